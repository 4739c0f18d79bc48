import { createTopics, inside, topicNames } from '@tally/kafka'
import { oracle } from '@tally/testkit/oracle/oracle'
import { tally as command } from '@tally/testkit/processes/command'
import { startProcess } from '@tally/testkit/processes/process'
import { startTally, useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectClean } from './test/damage.ts'

const tally = useTally({ partitions: 1 })
const festival = newFestival()

/** Deletes the topic of orders, creates it again, and has the projector go on with it. */
async function recreateOrders(): Promise<void> {
  const { kafka, settings } = tally
  const { TOPIC_PREFIX = '' } = settings
  const { orders } = topicNames(TOPIC_PREFIX)
  await inside(kafka).admin.use(admin => admin.deleteTopics({ topics: [orders] }))
  await until('the topic is gone', async () => {
    const topics = await inside(kafka).admin.use(admin => admin.listTopics())
    return !topics.includes(orders)
  })
  await createTopics(kafka, { topicPrefix: TOPIC_PREFIX, partitions: 1, replicationFactor: 1 })
  const accept = ['offsets', 'accept', orders, '0', '--yes']
  await until('the projector goes on', async () => (await command(accept, tally.settings)).code === 0)
}

/** Starts a rebuild from the topics and kills it once it has read them and waits for the projector's offsets. */
async function interruptRebuild(): Promise<void> {
  const waiting = Promise.withResolvers<void>()
  const locking = tally.database.db.transaction().execute(async tx => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`select from shard_offsets for update`.execute(tx)
    await waiting.promise
  })
  const rebuild = startProcess(['rebuild', '--from-kafka'], tally.settings)
  await until('it waits for the offsets', async () => {
    const { rows } = await sql<{ waits: boolean }>`
select exists (
  select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%shard_offsets%for update%'
) as waits`.execute(tally.database.db)
    return rows[0]?.waits === true
  })
  await rebuild.end('SIGKILL')
  waiting.resolve()
  await locking
}

test('a rebuild from a topic that was created again reads it from the start, and removes nothing unasked', async () => {
  const { path, eventId } = festival
  const orders = Array.from({ length: 200 }, () => festival.order())
  const records = [festival.organization(), festival.event(), ...orders]
  await tally.count(records)
  const token = await tally.key(festival.organizationId)
  const kpis = async () => (await tally.get(`${path}/analytics/kpis`, { token })).body.data
  await interruptRebuild()

  await recreateOrders()
  const corrected = orders.map(({ value, ...rest }) => ({
    ...rest,
    value: { ...value, version: 9, totalAmount: 1, items: [] },
  }))
  const again = [...corrected, ...Array.from({ length: 50 }, () => festival.order())]
  await tally.count(again)
  const told = oracle([...records, ...again])
    .event(eventId)
    .kpis({})
  expect(await kpis()).toEqual(told)
  const rebuilt = await command(['rebuild', '--from-kafka'], tally.settings)
  expect(rebuilt).toMatchObject({ code: 0, stderr: expect.not.stringContaining('continuing') })
  expect(await kpis()).toEqual(told)
  await expectClean(tally)

  await recreateOrders()
  const last = [festival.order(), festival.order()]
  await tally.count(last)
  const kept = oracle([...records, ...again, ...last])
    .event(eventId)
    .kpis({})
  const refused = await command(['rebuild', '--from-kafka'], tally.settings)
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the topics no longer hold 250 orders \(.*\.orders\) that Postgres has/),
  })
  expect(await kpis()).toEqual(kept)
  const removed = await command(['rebuild', '--from-kafka', '--yes'], tally.settings)
  expect(removed).toMatchObject({ code: 0, stderr: expect.stringContaining('rebuild: removed 250 orders (') })
  await until('the others are removed', async () => (await kpis()).totalOrders === last.length)
  await expectClean(tally)
})

test('a topic that was created again with fewer partitions is accepted once it has as many as before', async ({
  onTestFinished,
}) => {
  const { kafka, settings, settle, stop } = await startTally({ partitions: 2, projectors: 1, queries: 0 })
  onTestFinished(stop)
  await settle()
  const { orders } = topicNames(String(settings.TOPIC_PREFIX))
  const { admin } = inside(kafka)
  await admin.use(one => one.deleteTopics({ topics: [orders] }))
  const one = { topics: [{ topic: orders, numPartitions: 1 }] }
  await until('it is there again', () => admin.use(asked => asked.createTopics(one)).catch(() => false))
  const accept = () => command(['offsets', 'accept', orders, '0', '--yes'], settings)
  await until('it is refused', async () => /has 1 of its 2 partitions/.test((await accept()).stderr))
  await admin.use(one => one.createPartitions({ topicPartitions: [{ topic: orders, count: 2 }] }))
  await until('it is accepted', async () => (await accept()).code === 0)
})
