// Sends a small evening of each event to Tally: KAFKA_BROKERS=localhost:9092 go run . EVENT_ID...
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

const organizationID = "0b5a0000-0000-4000-8000-000000000001"

// Cents is money in whole cents; it becomes a number with two decimals only in the record.
type Cents int64

func (c Cents) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(c)/100, 'f', 2, 64), nil
}

type Organization struct {
	OrganizationID string `json:"organizationId"`
	Version        int64  `json:"version"`
	Name           string `json:"name"`
	Status         string `json:"status"`
}

// Event is the whole event in each record, as is an Order: Tally keeps the highest version of each.
type Event struct {
	EventID        string     `json:"eventId"`
	OrganizationID string     `json:"organizationId"`
	Version        int64      `json:"version"`
	Name           string     `json:"name"`
	StartDate      string     `json:"startDate"`
	TimeZone       string     `json:"timeZone"`
	Areas          []Area     `json:"areas"`
	Days           []Day      `json:"days"`
	MenuItems      []MenuItem `json:"menuItems"`
}

type Area struct {
	AreaID int32  `json:"areaId"`
	Name   string `json:"name"`
}

type Day struct {
	DayID    int32   `json:"dayId"`
	Date     string  `json:"date"`
	OpenedAt string  `json:"openedAt"`
	ClosedAt *string `json:"closedAt"`
}

type MenuItem struct {
	MenuItemID   int32  `json:"menuItemId"`
	Name         string `json:"name"`
	CategoryName string `json:"categoryName"`
}

type Order struct {
	EventID            string `json:"eventId"`
	OrderID            string `json:"orderId"`
	Version            int64  `json:"version"`
	DisplayOrderNumber string `json:"displayOrderNumber"`
	Status             string `json:"status"`
	AreaID             int32  `json:"areaId"`
	DayID              int32  `json:"dayId"`
	OrderDateTime      string `json:"orderDateTime"`
	PaymentMethod      string `json:"paymentMethod"`
	AmountPaid         Cents  `json:"amountPaid"`
	TotalAmount        Cents  `json:"totalAmount"`
	IsTakeaway         bool   `json:"isTakeaway"`
	TableNumber        string `json:"tableNumber"`
	Items              []Line `json:"items"`
}

type Line struct {
	MenuItemID int32  `json:"menuItemId"`
	ItemName   string `json:"itemName"`
	UnitPrice  Cents  `json:"unitPrice"`
	Quantity   int32  `json:"quantity"`
}

type Refund struct {
	EventID    string       `json:"eventId"`
	RefundID   string       `json:"refundId"`
	Version    int64        `json:"version"`
	OrderID    string       `json:"orderId"`
	RefundedAt string       `json:"refundedAt"`
	Amount     Cents        `json:"amount"`
	Lines      []RefundLine `json:"lines"`
}

type RefundLine struct {
	MenuItemID int32 `json:"menuItemId"`
	Quantity   int32 `json:"quantity"`
	Amount     Cents `json:"amount"`
}

func event(eventID string) Event {
	return Event{
		EventID: eventID, OrganizationID: organizationID, Version: 1, Name: "Sagra del Pesce",
		StartDate: "2026-09-04T16:00:00Z", TimeZone: "Europe/Rome",
		Areas:     []Area{{1, "Kitchen"}},
		Days:      []Day{{41, "2026-09-04", "2026-09-04T16:00:00Z", nil}},
		MenuItems: []MenuItem{{7, "Fritto misto", "Fish"}, {9, "Acqua", "Drinks"}},
	}
}

func order(eventID string, number int, version int64, status string, total Cents, method string, items []Line) Order {
	paid := total
	if status == "Pending" {
		paid = 0
	}
	text := strconv.Itoa(number)
	return Order{
		EventID: eventID, OrderID: "A-" + text, Version: version, DisplayOrderNumber: text, Status: status,
		AreaID: 1, DayID: 41, OrderDateTime: "2026-09-04T19:3" + text + ":07Z", PaymentMethod: method,
		AmountPaid: paid, TotalAmount: total, TableNumber: "12", Items: items,
	}
}

// evening makes two orders, a change of the first one, and a refund of one item of the second.
func evening(prefix, eventID string) []*kgo.Record {
	items := func(fritto, acqua int32) []Line {
		return []Line{{7, "Fritto misto", 1250, fritto}, {9, "Acqua", 250, acqua}}
	}
	refund := Refund{eventID, "R-1", 1, "A-2", "2026-09-04T20:02:00Z", 250, []RefundLine{{9, 1, 250}}}
	return []*kgo.Record{
		record(prefix, "organizations", organizationID,
			Organization{organizationID, 1, "Pro Loco San Vito", "ActiveDayPass"}),
		record(prefix, "events", eventID, event(eventID)),
		record(prefix, "orders", eventID, order(eventID, 1, 1, "Pending", 2750, "Cash", items(2, 1))),
		record(prefix, "orders", eventID, order(eventID, 1, 2, "Paid", 2750, "Cash", items(2, 1))),
		record(prefix, "orders", eventID, order(eventID, 2, 1, "Paid", 2000, "Card", items(1, 3))),
		record(prefix, "refunds", eventID, refund),
	}
}

// record has a key that decides the partition: the event's id in lower case, and for an organization its own id.
func record(prefix, topic, id string, value any) *kgo.Record {
	text, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	return &kgo.Record{Topic: prefix + "." + topic, Key: []byte(strings.ToLower(id)), Value: text}
}

func main() {
	brokers := cmp.Or(os.Getenv("KAFKA_BROKERS"), "localhost:9092")
	prefix := cmp.Or(os.Getenv("TOPIC_PREFIX"), "tally")
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(brokers, ",")...),
		// A nil hasher places keys as Java does (murmur2). Sends are idempotent by default, with acks from all in-sync
		// replicas.
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerBatchMaxBytesFn(func(topic string) int32 {
			// The largest event that Tally takes has 2.8 MB, and its topic takes batches of 8 MiB.
			if topic == prefix+".events" || topic == prefix+".orders" {
				return 8 << 20
			}
			// franz-go's default: the other topics take no more.
			return 1_000_012
		}),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for _, eventID := range os.Args[1:] {
		if err := client.ProduceSync(context.Background(), evening(prefix, eventID)...).FirstErr(); err != nil {
			log.Fatal(err)
		}
	}
}
