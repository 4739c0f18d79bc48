import type { EventId } from '@tally/contract'
import { topicNames } from '@tally/kafka'
import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { startProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import type { Festival } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { eventTables, openShadow, shadowSchema } from './fromKafka/shadow.ts'
import { chooseByIds, removeEvents } from './removeEvents.ts'
import { aBusyFestival, damage, expectClean, keysOf, rebuildAll } from './test/damage.ts'
import { keepSending } from './test/stream.ts'

const tally = useTally({ partitions: 2, projectors: 2, queries: 2 })
const kept = aBusyFestival(60)
const removed = aBusyFestival(60)
const keptRecords = [...kept.records]

const remove = (...args: string[]) => command(['events', 'remove', ...args], tally.settings)

/** The statuses of all endpoints of an event, from both query processes. */
async function statusesOf({ path }: Festival, token: string): Promise<Set<number>> {
  const paths = [...eventPaths, '/orders/A-00001'].map(end => `${path}${end}`)
  const replies = await Promise.all(
    paths.flatMap(one => [0, 1].map(query => tally.get(one, { token, query }))),
  )
  return new Set(replies.map(({ status }) => status))
}

/** The number of rows that each table has of an event. */
async function rowsOf({ eventId }: Festival): Promise<Record<string, number>> {
  const counts = eventTables.map(async table => {
    const { rows } = await sql<{ count: number }>`
select count(*) from ${sql.table(table)} where event_id = ${eventId}`.execute(tally.database.db)
    return [table, rows[0]?.count ?? -1] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}
const noRows = Object.fromEntries(eventTables.map(table => [table, 0]))

async function expectGone(festival: Festival, token: string): Promise<void> {
  expect(await statusesOf(festival, token)).toEqual(new Set([404]))
  expect((await tally.get('/api/v1/events', { token })).body.data).toEqual([])
  expect(await rowsOf(festival)).toEqual(noRows)
  const fields = await tally.redis.hkeys(keysOf(tally).event(festival.eventId as EventId))
  expect(fields.toSorted()).toEqual(['complete', 'epoch', 'revision'])
}

test('a removed event is unknown at once, in every process, while its records and others arrive', async () => {
  await tally.count([...kept.records, ...removed.records])
  const token = await tally.key(removed.festival.organizationId)
  expect(await statusesOf(removed.festival, token)).toEqual(new Set([200]))

  const sending = keepSending(tally, batch => [
    kept.festival.order({ orderId: `new-${batch}` }),
    removed.festival.order({ orderId: `new-${batch}` }),
    removed.festival.refund({ orderId: `new-${batch}` }),
  ])
  const { code, stdout, stderr } = await remove(removed.festival.eventId.toUpperCase(), '--yes')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^removed 1 event with \d+ orders$/m)
  expect(await statusesOf(removed.festival, token)).toEqual(new Set([404]))
  keptRecords.push(...(await sending.stop()).filter(({ value }) => value.eventId === kept.festival.eventId))
  await tally.count([removed.festival.event({ version: 9, name: 'Back' })])

  await expectGone(removed.festival, token)
  const keptToken = await tally.key(kept.festival.organizationId)
  await expectAllAnswers(tally, kept.festival.eventId, oracle(keptRecords), keptToken)
  await expectClean(tally)
  expect(await readDeadLetters(tally)).toEqual([])
  const logs = tally.projectors.map(({ log }) => log()).join('')
  expect(logs).toContain('records of events that were removed (tally events remove) are ignored')

  const { rows } = await sql`
select organization_id, subject, detail from audit_entries where action = 'event-removed'`.execute(
    tally.database.db,
  )
  expect(rows).toEqual([
    {
      organization_id: removed.festival.organizationId,
      subject: removed.festival.eventId,
      detail: expect.stringMatching(/^Sagra del Pesce: \d+ orders$/),
    },
  ])
})

test('a removed event does not come back from a rebuild, from Kafka or after lost commits', async () => {
  const token = await tally.key(removed.festival.organizationId)
  const keptToken = await tally.key(kept.festival.organizationId)
  const expectBoth = async () => {
    await expectGone(removed.festival, token)
    await expectAllAnswers(tally, kept.festival.eventId, oracle(keptRecords), keptToken)
    await expectClean(tally)
  }
  await rebuildAll(tally)
  await expectBoth()
  await rebuildAll(tally, '--from-kafka')
  await expectBoth()
  await damage(tally, 'update shard_offsets set next_offset = 0')
  await tally.settle()
  await expectBoth()
})

test('a removal that was killed is completed by the next one', async () => {
  const { festival, records } = aBusyFestival(40)
  await tally.count(records)
  const token = await tally.key(festival.organizationId)
  const killed = await tally.database.db.transaction().execute(async tx => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`select from refunds where event_id = ${festival.eventId} for update`.execute(tx)
    const killed = startProcess(['events', 'remove', festival.eventId, '--yes'], tally.settings)
    await until('the orders are deleted', async () => (await rowsOf(festival)).orders === 0)
    expect(await statusesOf(festival, token)).toEqual(new Set([404]))
    await killed.end('SIGKILL')
    return killed
  })
  expect(killed.log()).not.toContain('removed 1 event')
  expect(await rowsOf(festival)).not.toEqual(noRows)
  await expectClean(tally)

  await openShadow(tally.database.db, 'tally', async () => true)
  const again = await remove('--older-than', '999y', '--yes')
  expect(again).toMatchObject({
    code: 0,
    stderr:
      'an interrupted run has left rows of 1 removed event: they are deleted too\n' +
      'dropping what an interrupted `tally rebuild --from-kafka` has read\n',
  })
  const shadow = sql`select from pg_namespace where nspname = ${shadowSchema}`
  expect((await shadow.execute(tally.database.db)).rows).toEqual([])
  await expectGone(festival, token)
  expect(await remove(festival.eventId, '--yes')).toEqual({
    code: 0,
    stdout: '',
    stderr: `tally: event ${festival.eventId} was removed before\nthere is nothing to remove\n`,
  })
})

test('the projector takes a removed event out of Redis if the command ends before it has', async () => {
  const { festival, records } = aBusyFestival(10)
  await tally.count(records)
  const token = await tally.key(festival.organizationId)
  const { db } = tally.database
  const chosen = await chooseByIds(db, [festival.eventId as EventId])
  const redis = { hget: () => Promise.reject(new Error('the command ends')) } as never
  const removing = removeEvents({ db, redis, keys: keysOf(tally) }, chosen, {
    eventsTopic: topicNames(tally.settings.TOPIC_PREFIX ?? '').events,
    onRemoved: async () => {},
  })
  await expect(removing).rejects.toThrow('the command ends')
  await until(
    'the event is gone from Redis',
    async () => (await tally.redis.hget(keysOf(tally).event(festival.eventId as EventId), 'event')) === null,
  )
  await tally.settle()
  expect(await statusesOf(festival, token)).toEqual(new Set([404]))
  expect((await tally.get('/api/v1/events', { token })).body.data).toEqual([])
  expect(await remove(festival.eventId, '--yes')).toMatchObject({ code: 0 })
  await expectGone(festival, token)
  await expectClean(tally)
})
