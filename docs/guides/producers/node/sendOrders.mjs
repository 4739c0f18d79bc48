// Sends a small evening of each event to Tally: KAFKA_BROKERS=localhost:9092 node sendOrders.mjs EVENT_ID...
// Needs kafkajs 2.2.4.
import { Kafka, Partitioners } from 'kafkajs'

const { KAFKA_BROKERS = 'localhost:9092', TOPIC_PREFIX = 'tally' } = process.env
const organizationId = '0b5a0000-0000-4000-8000-000000000001'

/** Money is counted in whole cents and becomes a number with two decimals only in the record. */
const euros = cents => cents / 100

const fritto = { menuItemId: 7, itemName: 'Fritto misto', unitPrice: euros(1250) }
const acqua = { menuItemId: 9, itemName: 'Acqua', unitPrice: euros(250) }

function organization() {
  return { organizationId, version: 1, name: 'Pro Loco San Vito', status: 'ActiveDayPass' }
}

/** The whole event in each record, as is an order: Tally keeps the highest version of each. */
function event(eventId) {
  return {
    eventId,
    organizationId,
    version: 1,
    name: 'Sagra del Pesce',
    startDate: '2026-09-04T16:00:00Z',
    timeZone: 'Europe/Rome',
    areas: [{ areaId: 1, name: 'Kitchen' }],
    days: [{ dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: null }],
    menuItems: [
      { menuItemId: 7, name: 'Fritto misto', categoryName: 'Fish' },
      { menuItemId: 9, name: 'Acqua', categoryName: 'Drinks' },
    ],
  }
}

function order(eventId, number, version, status, totalCents, paymentMethod, items) {
  const paid = status === 'Pending' ? 0 : totalCents
  return {
    eventId,
    orderId: `A-${number}`,
    version,
    displayOrderNumber: String(number),
    status,
    areaId: 1,
    dayId: 41,
    orderDateTime: `2026-09-04T19:3${number}:07Z`,
    paymentMethod,
    amountPaid: euros(paid),
    totalAmount: euros(totalCents),
    isTakeaway: false,
    tableNumber: '12',
    items,
  }
}

function refund(eventId) {
  return {
    eventId,
    refundId: 'R-1',
    version: 1,
    orderId: 'A-2',
    refundedAt: '2026-09-04T20:02:00Z',
    amount: euros(250),
    lines: [{ menuItemId: 9, quantity: 1, amount: euros(250) }],
  }
}

/** Topic and value of each record: two orders, a change of the first one, and a refund of one item of the second. */
function evening(eventId) {
  const first = [
    { ...fritto, quantity: 2 },
    { ...acqua, quantity: 1 },
  ]
  const second = [
    { ...fritto, quantity: 1 },
    { ...acqua, quantity: 3 },
  ]
  return [
    ['organizations', organization()],
    ['events', event(eventId)],
    ['orders', order(eventId, 1, 1, 'Pending', 2750, 'Cash', first)],
    ['orders', order(eventId, 1, 2, 'Paid', 2750, 'Cash', first)],
    ['orders', order(eventId, 2, 1, 'Paid', 2000, 'Card', second)],
    ['refunds', refund(eventId)],
  ]
}

/** The key decides the partition: the event's id in lower case, and for an organization its own id. */
const keyOf = (topic, value) =>
  (topic === 'organizations' ? value.organizationId : value.eventId).toLowerCase()

const kafka = new Kafka({ clientId: 'orders', brokers: KAFKA_BROKERS.split(',') })
const producer = kafka.producer({
  // Of kafkajs's partitioners, the one that places keys as Java does (murmur2).
  createPartitioner: Partitioners.DefaultPartitioner,
  // A repeated send is written once, in order; kafkajs keeps the order only with one request at a time.
  idempotent: true,
  maxInFlightRequests: 1,
})
await producer.connect()
try {
  for (const eventId of process.argv.slice(2))
    for (const [topic, value] of evening(eventId)) {
      const message = { key: keyOf(topic, value), value: JSON.stringify(value) }
      // kafkajs sends a record of any size, such as the 2.8 MB of the largest event that Tally takes.
      // Resolves when all in-sync replicas have the record, and throws if they do not.
      await producer.send({ topic: `${TOPIC_PREFIX}.${topic}`, acks: -1, messages: [message] })
    }
} finally {
  await producer.disconnect()
}
