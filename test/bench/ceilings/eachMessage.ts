import kafkajs, { type EachMessagePayload } from 'kafkajs'
import pg from 'pg'
import { plainTables } from './plainTables.ts'
import { report, setting } from './report.ts'

/** What people write first: kafkajs's eachMessage and one transaction each, into two tables. Runs for SECONDS. */
const kafka = new kafkajs.Kafka({
  clientId: 'ceiling',
  brokers: [setting('KAFKA_BROKERS')],
  logLevel: kafkajs.logLevel.ERROR,
})
const pool = new pg.Pool({ connectionString: setting('DATABASE_URL'), max: 5 })
let records = 0

async function eachMessage({ topic, message }: EachMessagePayload): Promise<void> {
  const value = JSON.parse(String(message.value))
  const client = await pool.connect()
  try {
    await client.query('begin')
    if (topic === setting('ORDERS_TOPIC')) await storeOrder(client, value)
    if (topic === setting('REFUNDS_TOPIC')) await storeRefund(client, value)
    await client.query('commit')
    records += 1
  } finally {
    client.release()
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what people write first is not typed
type Any = any

async function storeOrder(client: pg.PoolClient, order: Any): Promise<void> {
  const { rowCount } = await client.query(
    `insert into plain.orders values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict (event_id, order_id) do update set
  version = excluded.version, status = excluded.status, day_id = excluded.day_id, area_id = excluded.area_id,
  ordered_at = excluded.ordered_at, total = excluded.total
where orders.version < excluded.version`,
    [
      ...[order.eventId, order.orderId, order.version, order.status, order.dayId, order.areaId],
      ...[order.orderDateTime, order.totalAmount],
    ],
  )
  if (rowCount === 0) return
  const { eventId, orderId } = order
  await client.query('delete from plain.order_lines where event_id = $1 and order_id = $2', [
    eventId,
    orderId,
  ])
  for (const { menuItemId, itemName, quantity, unitPrice } of order.items) {
    const line = [eventId, orderId, menuItemId, itemName, quantity, unitPrice]
    await client.query('insert into plain.order_lines values ($1, $2, $3, $4, $5, $6)', line)
  }
}

async function storeRefund(client: pg.PoolClient, refund: Any): Promise<void> {
  const { eventId, refundId, orderId, amount, lines } = refund
  const { rowCount } = await client.query(
    'insert into plain.refunds values ($1, $2, $3, $4) on conflict do nothing',
    [eventId, refundId, orderId, amount],
  )
  if (rowCount === 0) return
  for (const line of lines ?? []) {
    const row = [eventId, refundId, orderId, line.menuItemId, line.quantity, line.amount]
    await client.query('insert into plain.refund_lines values ($1, $2, $3, $4, $5, $6)', row)
  }
}

await pool.query(plainTables)
const consumer = kafka.consumer({ groupId: setting('KAFKA_GROUP_ID') })
consumer.on('consumer.group_join', () => {
  report({ at: 'assigned', ms: Date.now() })
  setTimeout(() => report({ at: 'done', ms: Date.now(), records }), Number(setting('SECONDS')) * 1000)
})
await consumer.connect()
await consumer.subscribe({ topics: setting('TOPICS').split(','), fromBeginning: true })
await consumer.run({ eachMessage })
