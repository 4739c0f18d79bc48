import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends a small evening of each event to Tally: KAFKA_BROKERS=localhost:9092 java -cp 'libs/*' SendOrders.java EVENT_ID...
 * Needs Java 17, kafka-clients 4.3.1 and jackson-databind.
 */
public final class SendOrders {
  private static final String ORGANIZATION_ID = "0b5a0000-0000-4000-8000-000000000001";
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Topic, key and value of a record. The key decides the partition: an id in lower case. */
  private record Outgoing(String topic, String id, Map<String, Object> value) {}

  public static void main(String[] eventIds) throws Exception {
    String brokers = System.getenv().getOrDefault("KAFKA_BROKERS", "localhost:9092");
    String prefix = System.getenv().getOrDefault("TOPIC_PREFIX", "tally");
    // Keys are placed by murmur2 unless partitioner.class names another partitioner.
    Map<String, Object> settings = Map.of(
        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers,
        // A repeated send is written once, in order. Both are the defaults of kafka-clients since 3.0.
        ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true,
        ProducerConfig.ACKS_CONFIG, "all",
        // The largest event that Tally takes has 2.8 MB; the default is 1 MB. Less than buffer.memory, which is 32 MB.
        ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 8 * 1024 * 1024);
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (String eventId : eventIds) {
        for (Outgoing next : evening(eventId)) {
          String key = next.id().toLowerCase(Locale.ROOT);
          String text = JSON.writeValueAsString(next.value());
          sent.add(producer.send(new ProducerRecord<>(prefix + "." + next.topic(), key, text)));
        }
      }
      // send() only queues: get() waits for the brokers' answer, and throws if they refused the record.
      for (Future<RecordMetadata> each : sent) each.get();
    }
  }

  /** Two orders, a change of the first one, and a refund of one item of the second. */
  private static List<Outgoing> evening(String eventId) {
    List<Object> first = List.of(line(7, "Fritto misto", 1250, 2), line(9, "Acqua", 250, 1));
    List<Object> second = List.of(line(7, "Fritto misto", 1250, 1), line(9, "Acqua", 250, 3));
    return List.of(
        new Outgoing("organizations", ORGANIZATION_ID, organization()),
        new Outgoing("events", eventId, event(eventId)),
        new Outgoing("orders", eventId, order(eventId, 1, 1, "Pending", 2750, "Cash", first)),
        new Outgoing("orders", eventId, order(eventId, 1, 2, "Paid", 2750, "Cash", first)),
        new Outgoing("orders", eventId, order(eventId, 2, 1, "Paid", 2000, "Card", second)),
        new Outgoing("refunds", eventId, refund(eventId)));
  }

  /** Money is counted in whole cents and becomes a number with two decimals only in the record. */
  private static BigDecimal euros(long cents) {
    return BigDecimal.valueOf(cents, 2);
  }

  private static Map<String, Object> organization() {
    return fields("organizationId", ORGANIZATION_ID, "version", 1, "name", "Pro Loco San Vito", "status", "ActiveDayPass");
  }

  /** The whole event in each record, as is an order: Tally keeps the highest version of each. */
  private static Map<String, Object> event(String eventId) {
    return fields(
        "eventId", eventId,
        "organizationId", ORGANIZATION_ID,
        "version", 1,
        "name", "Sagra del Pesce",
        "startDate", "2026-09-04T16:00:00Z",
        "timeZone", "Europe/Rome",
        "areas", List.of(fields("areaId", 1, "name", "Kitchen")),
        "days", List.of(fields(
            "dayId", 41, "date", "2026-09-04", "openedAt", "2026-09-04T16:00:00Z", "closedAt", null)),
        "menuItems", List.of(
            fields("menuItemId", 7, "name", "Fritto misto", "categoryName", "Fish"),
            fields("menuItemId", 9, "name", "Acqua", "categoryName", "Drinks")));
  }

  private static Map<String, Object> order(
      String eventId, int number, int version, String status, long totalCents, String paymentMethod, List<Object> items) {
    return fields(
        "eventId", eventId,
        "orderId", "A-" + number,
        "version", version,
        "displayOrderNumber", Integer.toString(number),
        "status", status,
        "areaId", 1,
        "dayId", 41,
        "orderDateTime", "2026-09-04T19:3" + number + ":07Z",
        "paymentMethod", paymentMethod,
        "amountPaid", euros(status.equals("Pending") ? 0 : totalCents),
        "totalAmount", euros(totalCents),
        "isTakeaway", false,
        "tableNumber", "12",
        "items", items);
  }

  private static Map<String, Object> line(int menuItemId, String itemName, long unitCents, int quantity) {
    return fields("menuItemId", menuItemId, "itemName", itemName, "unitPrice", euros(unitCents), "quantity", quantity);
  }

  private static Map<String, Object> refund(String eventId) {
    return fields(
        "eventId", eventId,
        "refundId", "R-1",
        "version", 1,
        "orderId", "A-2",
        "refundedAt", "2026-09-04T20:02:00Z",
        "amount", euros(250),
        "lines", List.of(fields("menuItemId", 9, "quantity", 1, "amount", euros(250))));
  }

  /** A JSON object of names and values in turn, in their order. */
  private static Map<String, Object> fields(Object... namesAndValues) {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) object.put((String) namesAndValues[i], namesAndValues[i + 1]);
    return object;
  }
}
