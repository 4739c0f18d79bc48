"""Sends a small evening of each event to Tally: KAFKA_BROKERS=localhost:9092 python send_orders.py EVENT_ID...

Needs confluent-kafka 2.16.1.
"""

import json
import os
import sys

from confluent_kafka import Producer

BROKERS = os.environ.get("KAFKA_BROKERS", "localhost:9092")
PREFIX = os.environ.get("TOPIC_PREFIX", "tally")
ORGANIZATION_ID = "0b5a0000-0000-4000-8000-000000000001"


def euros(cents):
    """Money is counted in whole cents and becomes a number with two decimals only in the record."""
    return cents / 100


FRITTO = {"menuItemId": 7, "itemName": "Fritto misto", "unitPrice": euros(1250)}
ACQUA = {"menuItemId": 9, "itemName": "Acqua", "unitPrice": euros(250)}


def organization():
    return {"organizationId": ORGANIZATION_ID, "version": 1, "name": "Pro Loco San Vito", "status": "ActiveDayPass"}


def event(event_id):
    """The whole event in each record, as is an order: Tally keeps the highest version of each."""
    return {
        "eventId": event_id,
        "organizationId": ORGANIZATION_ID,
        "version": 1,
        "name": "Sagra del Pesce",
        "startDate": "2026-09-04T16:00:00Z",
        "timeZone": "Europe/Rome",
        "areas": [{"areaId": 1, "name": "Kitchen"}],
        "days": [{"dayId": 41, "date": "2026-09-04", "openedAt": "2026-09-04T16:00:00Z", "closedAt": None}],
        "menuItems": [
            {"menuItemId": 7, "name": "Fritto misto", "categoryName": "Fish"},
            {"menuItemId": 9, "name": "Acqua", "categoryName": "Drinks"},
        ],
    }


def order(event_id, number, version, status, total_cents, payment_method, items):
    paid = 0 if status == "Pending" else total_cents
    return {
        "eventId": event_id,
        "orderId": f"A-{number}",
        "version": version,
        "displayOrderNumber": str(number),
        "status": status,
        "areaId": 1,
        "dayId": 41,
        "orderDateTime": f"2026-09-04T19:3{number}:07Z",
        "paymentMethod": payment_method,
        "amountPaid": euros(paid),
        "totalAmount": euros(total_cents),
        "isTakeaway": False,
        "tableNumber": "12",
        "items": items,
    }


def refund(event_id):
    return {
        "eventId": event_id,
        "refundId": "R-1",
        "version": 1,
        "orderId": "A-2",
        "refundedAt": "2026-09-04T20:02:00Z",
        "amount": euros(250),
        "lines": [{"menuItemId": 9, "quantity": 1, "amount": euros(250)}],
    }


def evening(event_id):
    """Topic and value of each record: two orders, a change of the first one, and a refund of one item of the second."""
    first = [{**FRITTO, "quantity": 2}, {**ACQUA, "quantity": 1}]
    second = [{**FRITTO, "quantity": 1}, {**ACQUA, "quantity": 3}]
    return [
        ("organizations", organization()),
        ("events", event(event_id)),
        ("orders", order(event_id, 1, 1, "Pending", 2750, "Cash", first)),
        ("orders", order(event_id, 1, 2, "Paid", 2750, "Cash", first)),
        ("orders", order(event_id, 2, 1, "Paid", 2000, "Card", second)),
        ("refunds", refund(event_id)),
    ]


def key_of(topic, value):
    """The key decides the partition: the event's id in lower case, and for an organization its own id."""
    return (value["organizationId"] if topic == "organizations" else value["eventId"]).lower()


def main():
    failures = []
    producer = Producer(
        {
            "bootstrap.servers": BROKERS,
            # librdkafka places keys by CRC-32 by default, Java by murmur2.
            "partitioner": "murmur2_random",
            # A repeated send is written once, in order; implies acks=all.
            "enable.idempotence": True,
            # The largest event that Tally takes has 2.8 MB, with \uXXXX for each character 5.3 MB; the default is 1 MB.
            "message.max.bytes": 8 * 1024 * 1024,
        }
    )

    def delivered(error, _message):
        if error is not None:
            failures.append(str(error))

    for event_id in sys.argv[1:]:
        for topic, value in evening(event_id):
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            producer.produce(f"{PREFIX}.{topic}", key=key_of(topic, value), value=text, on_delivery=delivered)
            producer.poll(0)
    # produce() only queues: without flush() a program that ends loses what has not been sent yet.
    waiting = producer.flush(30)
    if failures or waiting:
        sys.exit(f"{waiting} records not sent, {len(failures)} refused: {failures[:1]}")


main()
