import { readFileSync } from 'node:fs'
import {
  createTimeoutMs,
  endOffsets,
  inside,
  type KafkaConnection,
  readTopic,
  topicNames,
} from '@tally/kafka'
import { figuresOf } from '@tally/testkit/oracle/sqlFigures'
import { useTally } from '@tally/testkit/processes/tally'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { connectTo } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Connect, connectWorker } from './connect.ts'
import {
  changeOrder,
  connect,
  createEvent,
  createFestival,
  customer,
  type Festival,
  failRefund,
  guideFile,
  openShop,
  refundOrder,
  type Shop,
  takeOrder,
} from './shop.ts'

/** docs/guides/outbox, run as it tells: a shop with orders, then the outbox, Connect and the backfill. */
const tally = useTally({ partitions: 6 })
const connector = 'shop-outbox'
const orderIds: string[] = []
let shop: Shop
let festival: Festival
let worker: Connect
let kafka: KafkaConnection
let token: string | undefined

beforeAll(async () => {
  kafka = connectTo(inject('servers').kafkaBrokers)
  shop = await openShop()
  festival = await createFestival(shop.sql)
  await work(40)
  await shop.runFile('outbox.sql')
  await shop.sql.query(`alter role tally_outbox password '${shop.password}'`)
  await createHeartbeatTopic()
  worker = await connectWorker(guideFile('worker.properties'), workerSettings(), {
    OUTBOX_PASSWORD: shop.password,
  })
  await worker.start()
  await worker.put(connector, connectorSettings())
})

afterAll(async () => {
  await worker?.stop()
  await shop?.stop()
  await kafka?.close()
})

test('orders from before the outbox are counted after the backfill', async () => {
  await shop.runFile('backfill.sql')
  await untilCounted()
})

test('inserts, changes and refunds by four tills at once are counted', async () => {
  await work(60)
  await untilCounted()
})

test('a Connect that is killed in the middle loses nothing', async () => {
  const before = await ordersInKafka()
  const busy = work(200)
  await until('Connect has read some of it', async () => (await ordersInKafka()) > before + 10)
  await worker.kill()
  await busy
  await work(20)
  await worker.start()
  await worker.untilRuns(connector)
  await work(20)
  await untilCounted()
})

test('a second backfill, while orders are taken, changes no figure', async () => {
  const before = await ordersInKafka()
  await Promise.all([shop.runFile('backfill.sql'), work(20)])
  await until('the backfill is in Kafka', async () => (await ordersInKafka()) >= before + orderIds.length)
  await untilCounted()
})

test('a slot that was lost is mended by a new one and a backfill', async () => {
  await worker.halt(connector)
  await shop.sql.query(`select pg_drop_replication_slot('tally_outbox')`)
  await work(20)
  await worker.startAnew(connector)
  await shop.runFile('backfill.sql')
  await untilCounted()
})

test('the largest menu is sent: 2,000 items with the longest names, 1.7 MB', async () => {
  const { organizationId } = festival
  const eventId = await createEvent(shop.sql, organizationId, 2000, `repeat('è', 200)`)
  await takeOrder(shop.sql, { organizationId, eventId })
  await until('Tally answers with its names', async () => {
    const { body } = await tally.get(`/api/v1/events/${eventId}/live/item-counts`, { token })
    return body.data?.[0]?.itemName === 'è'.repeat(200)
  })
})

test('the slot lets go of the log while only other tables are written', async () => {
  await shop.sql.query('create table elsewhere as select generate_series(1, 10000)')
  const { rows } = await shop.sql.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
  await until('the slot is past it', async () => {
    const past = await shop.sql.query('select from pg_replication_slots where confirmed_flush_lsn >= $1', [
      rows[0]?.lsn,
    ])
    return past.rowCount === 1
  })
})

test('the outbox is empty, and Debezium’s role reads nothing else', async () => {
  const rows = await shop.sql.query('select from outbox')
  expect(rows.rowCount).toBe(0)
  const url = new URL(shop.url)
  url.username = 'tally_outbox'
  url.password = shop.password
  const debezium = await connect(url)
  for (const table of ['orders', 'lines', 'refunds', 'order_records'])
    await expect(debezium.query(`select from ${table}`)).rejects.toThrow('permission denied')
  await debezium.end()
})

test('what Tally could never take back is refused by the database', async () => {
  const [orderId] = orderIds
  await expect(shop.sql.query('delete from orders where id = $1', [orderId])).rejects.toThrow('Cancelled')
  await expect(shop.sql.query('delete from refunds')).rejects.toThrow('set the amount to 0')
  await expect(shop.sql.query('update refunds set order_id = order_id + 1')).rejects.toThrow('another refund')
})

test.each(["number = repeat('🍕', 150)", "ordered_at = 'infinity'", "total = 'NaN'"])(
  'what Tally rejects is refused by the database: %s',
  async change => {
    await expect(shop.sql.query(`update orders set ${change}`)).rejects.toThrow('violates check constraint')
  },
)

test('too many lines of an order are refused by the database', async () => {
  const more = `insert into lines select $1, n, 1, 'x', 1, 0 from generate_series(100, 600) n`
  await expect(shop.sql.query(more, [orderIds[0]])).rejects.toThrow('at_most_500_lines')
})

test('no record is a dead letter, and no topic holds a customer’s name', async () => {
  expect(await readDeadLetters(tally)).toEqual([])
  const seen = await Promise.all(Object.values(topics()).map(async topic => [topic, await textOf(topic)]))
  for (const [topic, text] of seen) expect(text?.includes(customer) ? topic : 'nowhere').toBe('nowhere')
  expect(seen.filter(([, text]) => text !== '')).toHaveLength(seen.length - 1)
})

/** The guide's settings with the addresses of this run. */
function workerSettings(): Record<string, string> {
  const { kafkaBrokers } = inject('servers')
  const { configs, offsets, status } = topics()
  return {
    'bootstrap.servers': kafkaBrokers,
    'group.id': `${tally.settings.TOPIC_PREFIX}-connect`,
    'config.storage.topic': configs,
    'offset.storage.topic': offsets,
    'status.storage.topic': status,
  }
}

function connectorSettings(): Record<string, string> {
  const settings = settingsOfGuide()
  const route = 'transforms.outbox.route.topic.replacement'
  return {
    ...settings,
    'database.hostname': shop.url.hostname,
    'database.port': shop.url.port,
    'database.dbname': shop.url.pathname.slice(1),
    'topic.heartbeat.prefix': topics().heartbeat.replace(/\.shop$/, ''),
    'heartbeat.interval.ms': '1000',
    [route]: (settings[route] ?? '').replace('tally.', `${tally.settings.TOPIC_PREFIX}.`),
  }
}

const settingsOfGuide = (): Record<string, string> =>
  JSON.parse(readFileSync(guideFile('connector.json'), 'utf8'))

const createHeartbeatTopic = () =>
  inside(kafka).admin.use(admin =>
    admin.createTopics({
      topics: [{ topic: topics().heartbeat, numPartitions: 1 }],
      timeout: createTimeoutMs,
    }),
  )

function topics() {
  const prefix = tally.settings.TOPIC_PREFIX ?? ''
  const { organizations, events, orders, refunds, deadLetters } = topicNames(prefix)
  const own = { configs: `${prefix}-configs`, offsets: `${prefix}-offsets`, status: `${prefix}-status` }
  const heartbeat = `${prefix}-heartbeat.${settingsOfGuide()['topic.prefix']}`
  return { organizations, events, orders, refunds, deadLetters, heartbeat, ...own }
}

/** Four tills take orders, change half of them and refund some, each over a connection of its own. */
async function work(orders: number): Promise<void> {
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      const sql = await connect(shop.url)
      for (let taken = 0; taken < orders / 4; taken++) {
        orderIds.push(await takeOrder(sql, festival, taken % 5 === 0 ? 'Pending' : 'Paid'))
        const some = orderIds[Math.floor(Math.random() * orderIds.length)] as string
        if (taken % 2 === 0) await changeOrder(sql, some)
        if (taken % 3 === 0) await refundOrder(sql, some)
        if (taken % 6 === 5) await failRefund(sql, some)
      }
      await sql.end()
    }),
  )
}

/** Waits until Tally answers what SQL counts over the shop's tables. */
async function untilCounted(): Promise<void> {
  const wanted = await figuresOf(shop.sql, festival.eventId)
  let answered: unknown
  const isCounted = async () => {
    answered = await tallyFigures()
    return JSON.stringify(answered) === JSON.stringify(wanted)
  }
  await until('Tally answers what SQL counts', isCounted).catch(error => {
    expect(answered).toEqual(wanted)
    throw error
  })
}

async function tallyFigures() {
  // Until the organization's record is applied, it can have no key.
  token ??= await tally.key(festival.organizationId).catch(() => undefined)
  if (token === undefined) return undefined
  const path = `/api/v1/events/${festival.eventId}`
  const kpis = await tally.get(`${path}/analytics/kpis`, { token })
  const items = await tally.get(`${path}/live/item-counts`, { token })
  if (kpis.status !== 200 || items.status !== 200) return undefined
  const { totalOrders, totalSales } = kpis.body.data
  const rows: Record<'menuItemId' | 'quantitySold' | 'quantityRefunded', number>[] = items.body.data
  return {
    totalOrders,
    totalSales,
    items: rows.map(({ menuItemId, quantitySold, quantityRefunded }) => ({
      menuItemId,
      quantitySold,
      quantityRefunded,
    })),
  }
}

async function ordersInKafka(): Promise<number> {
  const { orders } = topics()
  const ends = (await endOffsets(kafka, [orders])).get(orders) ?? []
  return [...ends].reduce((sum, [, { end }]) => sum + end, 0)
}

/** Keys, values and headers of all records of a topic. */
async function textOf(topic: string): Promise<string> {
  let text = ''
  for await (const { records } of readTopic(kafka, topic))
    for (const { key, value, headers } of records) text += `${key} ${value} ${JSON.stringify(headers)}\n`
  return text
}
