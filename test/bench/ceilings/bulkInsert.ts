import kafkajs, { type EachBatchPayload } from 'kafkajs'
import pg from 'pg'
import { report, setting } from './report.ts'

/**
 * kafkajs that parses all records and bulk-inserts each order as one row with its items as JSON: no checks, no
 * counters, no offsets, no Redis. It reads as the projector reads: the same sizes of a fetch, three partitions at once,
 * as many connections to Postgres.
 */
const kafka = new kafkajs.Kafka({
  clientId: 'ceiling',
  brokers: [setting('KAFKA_BROKERS')],
  logLevel: kafkajs.logLevel.ERROR,
})
const expected = Number(setting('EXPECTED'))
const pool = new pg.Pool({ connectionString: setting('DATABASE_URL'), max: 5 })
let records = 0

type Order = { eventId: string; orderId: string; version: number } & Record<string, unknown>

async function eachBatch({ batch }: EachBatchPayload): Promise<void> {
  const values = batch.messages.map(({ value }) => JSON.parse(String(value)))
  if (batch.topic === setting('ORDERS_TOPIC')) await insert(values)
  records += values.length
  if (records >= expected) report({ at: 'done', ms: Date.now() })
}

/** One row an order at its highest version; a statement must not meet a row twice. */
async function insert(values: Order[]): Promise<void> {
  const newest = new Map<string, Order>()
  for (const order of values) {
    const key = order.eventId + order.orderId
    if ((newest.get(key)?.version ?? 0) < order.version) newest.set(key, order)
  }
  const orders = [...newest.values()]
  const column = (name: string) => orders.map(order => order[name])
  await pool.query({ name: 'insert', text: statement }, [
    ...[
      'eventId',
      'orderId',
      'version',
      'status',
      'dayId',
      'areaId',
      'orderDateTime',
      'displayOrderNumber',
    ].map(column),
    ...['paymentMethod', 'amountPaid', 'totalAmount', 'isTakeaway', 'tableNumber'].map(column),
    orders.map(({ items }) => JSON.stringify(items)),
  ])
}

const statement = `
insert into orders
select * from unnest(
  $1::uuid[], $2::text[], $3::int[], $4::text[], $5::int[], $6::int[], $7::timestamptz[], $8::text[],
  $9::text[], $10::numeric[], $11::numeric[], $12::boolean[], $13::text[], $14::json[]
)
on conflict (event_id, order_id) do update set
  version = excluded.version, status = excluded.status, day_id = excluded.day_id, area_id = excluded.area_id,
  ordered_at = excluded.ordered_at, display_number = excluded.display_number,
  payment_method = excluded.payment_method, paid = excluded.paid, total = excluded.total,
  takeaway = excluded.takeaway, table_number = excluded.table_number, items = excluded.items
where orders.version < excluded.version`

await pool.query(`
create table orders (
  event_id uuid, order_id text collate "C", version int, status text, day_id int, area_id int,
  ordered_at timestamptz, display_number text, payment_method text, paid numeric, total numeric,
  takeaway boolean, table_number text, items json,
  primary key (event_id, order_id)
)`)
const consumer = kafka.consumer({
  groupId: setting('KAFKA_GROUP_ID'),
  maxBytesPerPartition: 4 * 1024 * 1024,
  maxBytes: 16 * 1024 * 1024,
  maxWaitTimeInMs: 250,
})
consumer.on('consumer.group_join', () => report({ at: 'assigned', ms: Date.now() }))
await consumer.connect()
await consumer.subscribe({ topics: setting('TOPICS').split(','), fromBeginning: true })
await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 3, eachBatch })
