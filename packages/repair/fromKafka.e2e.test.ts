import { endOffsets, topicNames } from '@tally/kafka'
import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { startProcess } from '@tally/testkit/processes/process'
import { type Tally, useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { deleteBefore, sendAll } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { aBusyFestival, damage, expectClean, rebuildAll } from './test/damage.ts'
import { keepAsking, keepSending } from './test/stream.ts'

const tally = useTally({ partitions: 3 })
const kept = aBusyFestival(300)
const bad = { type: 'orders' as const, value: { eventId: kept.festival.eventId, orderId: 'bad' } }

const shadowIsThere = async () => {
  const { rows } = await sql<{ there: boolean }>`
select to_regnamespace('tally_rebuild') is not null as there`.execute(tally.database.db)
  return rows[0]?.there
}

test('a rebuild from the topics restores changed or lost orders, refunds, events and organizations while records arrive', async () => {
  const others = Array.from({ length: 8 }, () => aBusyFestival(20))
  const records = [...kept.records, bad, ...others.flatMap(({ records }) => records)]
  await tally.count(records)
  const deadLetters = (await readDeadLetters(tally)).length
  expect(deadLetters).toBe(1)
  const token = await tally.key(kept.festival.organizationId)
  const healthy = others[0] as typeof kept
  const keysNow = tally.database.db.selectFrom('api_keys').select(['key_id', 'secret_sha256'])
  const keysBefore = await keysNow.execute()

  const id = kept.festival.eventId
  const [gone, edited] = [others[1], others[2]].map(other => other?.festival)
  await damage(tally, `delete from orders where event_id = '${id}' and order_id < 'A-00050'`)
  await damage(
    tally,
    `update orders set total_cents = 1, status = 'Cancelled' where event_id = '${id}' and order_id > 'A-00250'`,
  )
  await damage(tally, `delete from refunds where event_id = '${id}'`)
  await damage(tally, `update order_buckets set paid = paid + 1 where event_id = '${id}' and area_id = 1`)
  await damage(tally, `delete from order_buckets where event_id = '${id}' and area_id = 2`)
  await damage(tally, `insert into orders (event_id, order_id, version) values ('${id}', 'invented', 0)`)
  await damage(tally, `delete from events where event_id = '${gone?.eventId}'`)
  await damage(tally, `delete from event_heads where event_id = '${gone?.eventId}'`)
  await damage(
    tally,
    `update organizations set status = 'Inactive' where organization_id = '${edited?.organizationId}'`,
  )
  await damage(tally, `insert into event_heads values ('00000000-0000-4000-8000-00000000000a', 0, 1)`)
  await damage(
    tally,
    `insert into organizations values ('00000000-0000-4000-8000-00000000000b', 0, 'x', 'Trial', 1)`,
  )

  const sending = keepSending(tally, batch => [
    healthy.festival.order({ orderId: `new-${batch}` }),
    kept.festival.order({ orderId: `new-${batch}` }),
    kept.festival.refund({ orderId: kept.orderIds[batch % 300] }),
  ])
  const asking = keepAsking(
    tally,
    `${healthy.festival.path}/analytics/kpis`,
    await tally.key(healthy.festival.organizationId),
  )
  await rebuildAll(tally, '--from-kafka')
  const sent = await sending.stop()
  await tally.settle()
  const orders = (await asking.stop()).map(({ totalOrders }) => totalOrders)

  expect(orders).toEqual(orders.toSorted((one, other) => one - other))
  const told = oracle([...records.filter(record => record !== bad), ...sent])
  await expectAllAnswers(tally, id, told, token)
  for (const { festival } of others.slice(0, 3)) {
    const { data } = (await tally.get('/api/v1/events', { token: await tally.key(festival.organizationId) }))
      .body
    expect(data).toEqual(told.listEvents(festival.organizationId))
    await expectAllAnswers(tally, festival.eventId, told, await tally.key(festival.organizationId))
  }
  await expectClean(tally)
  expect(await statusOf(tally, edited?.organizationId)).toBe('ActiveDayPass')
  expect(await countOf('event_heads')).toBe(9)
  expect(await countOf('organizations')).toBe(9)
  expect((await readDeadLetters(tally)).length).toBe(deadLetters)
  expect(await shadowIsThere()).toBe(false)
  expect(await keysNow.execute()).toEqual(expect.arrayContaining(keysBefore))
})

test('a rebuild from the topics that was killed continues where it stopped', async () => {
  const more = newFestival({ organizationId: kept.festival.organizationId })
  await tally.count([more.event(), ...Array.from({ length: 4_000 }, () => more.order())])
  await damage(tally, `delete from orders where event_id = '${more.eventId}' and order_id like '%7'`)
  const killed = startProcess(['rebuild', '--from-kafka'], tally.settings)
  await until(
    'some records are read',
    async () => (await shadowIsThere()) === true && (await readOffsets()) > 0,
  )
  await killed.end('SIGKILL')
  expect(await shadowIsThere()).toBe(true)

  const { stderr } = await rebuildAll(tally, '--from-kafka')
  expect(
    Number(/continuing an interrupted run: (\d+) records? already read/.exec(stderr)?.[1]),
  ).toBeGreaterThan(0)
  await expectClean(tally)
  expect(await countOf('orders', `event_id = '${more.eventId}'`)).toBe(4_000)
  expect(await shadowIsThere()).toBe(false)
})

test('an event with records in two shards, because partitions were added, is switched as a whole', async () => {
  const { festival, records } = aBusyFestival(60)
  const { kafka } = tally
  const names = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const [organization, ...others] = records
  await tally.count(organization === undefined ? [] : [organization])
  await sendAll(
    kafka,
    others.map(({ type, value }, i) => ({
      topic: names[type],
      key: festival.eventId,
      value: JSON.stringify(value),
      partition: i % 2,
    })),
  )
  await tally.settle()
  await damage(tally, `delete from orders where event_id = '${festival.eventId}' and order_id < 'A-00030'`)
  await rebuildAll(tally, '--from-kafka')
  await expectClean(tally)
  const token = await tally.key(festival.organizationId)
  await expectAllAnswers(tally, festival.eventId, oracle(records), token)
})

test('topics that lost their first records are refused, and nothing changes', async () => {
  const { kafka } = tally
  const topic = topicNames(tally.settings.TOPIC_PREFIX ?? '').orders
  const offsets = (await endOffsets(kafka, [topic])).get(topic) ?? new Map()
  const [partition] = [...offsets].find(([, { end }]) => end > 0) ?? []
  await deleteBefore(kafka, { topic, partition: Number(partition), offset: 1 })
  const { code, stderr } = await command(['rebuild', '--from-kafka'], tally.settings)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      `tally: ${topic}-${partition} begins at offset 1: its first records were deleted and would be missing. ` +
      'Run `tally rebuild` without --from-kafka, which counts from the orders and refunds in Postgres.\n',
  })
  await expectClean(tally)
})

async function statusOf({ database }: Tally, id: string | undefined): Promise<string | undefined> {
  const row = await database.db
    .selectFrom('organizations')
    .select('status')
    .where('organization_id', '=', id ?? '')
    .executeTakeFirst()
  return row?.status
}

async function countOf(table: string, where = 'true'): Promise<number | undefined> {
  const { rows } = await sql<{
    count: number
  }>`select count(*) from ${sql.id(table)} where ${sql.raw(where)}`.execute(tally.database.db)
  return rows[0]?.count
}

async function readOffsets(): Promise<number> {
  const { rows } = await sql<{ read: number }>`
select coalesce(sum(next_offset), 0)::bigint as read from tally_rebuild.shard_offsets`.execute(
    tally.database.db,
  )
  return rows[0]?.read ?? 0
}
