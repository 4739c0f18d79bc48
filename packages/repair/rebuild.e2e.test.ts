import type { EventId } from '@tally/contract'
import { readEventHeads } from '@tally/figures'
import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { startProcess } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openShadow, shadowSchema } from './fromKafka/shadow.ts'
import { asOnlyRebuild } from './rebuild/run.ts'
import { aBusyFestival, damage, expectClean, rebuildAll } from './test/damage.ts'
import { keepAsking, keepSending } from './test/stream.ts'

const tally = useTally({ partitions: 2 })

test('a rebuild while records arrive: no answer drops or is missing, and in the end all agree', async () => {
  const [right, wrong] = [aBusyFestival(200), aBusyFestival(200)]
  await tally.count([...right.records, ...wrong.records])
  const [token, other] = [
    await tally.key(right.festival.organizationId),
    await tally.key(wrong.festival.organizationId),
  ]
  const id = wrong.festival.eventId
  await damage(tally, `update daily_counters set sales_cents = 1, paid = paid + 5 where event_id = '${id}'`)
  await damage(tally, `delete from item_counters where event_id = '${id}' and area_id = 1`)
  await damage(tally, `update orders set refunded_cents = 7, refunded_lines = null where event_id = '${id}'`)

  const sending = keepSending(tally, batch =>
    [right, wrong].flatMap(({ festival, orderIds }) => [
      festival.order({ orderId: `new-${batch}`, areaId: 1 + (batch % 2) }),
      // Refunds of old orders too: those with wrong sums are changed while they are counted again.
      festival.refund({ orderId: orderIds[batch % orderIds.length], amount: 0.01, lines: [] }),
    ]),
  )
  const asking = keepAsking(tally, `${right.festival.path}/analytics/kpis`, token)
  await until(
    'the reader has answers',
    async () => (await tally.get(right.festival.path, { token })).status === 200,
  )
  for (let round = 0; round < 3; round++) await rebuildAll(tally)
  // A record that is just arriving is not a difference.
  await expectClean(tally)
  const sent = await sending.stop()
  await tally.settle()
  const orders = (await asking.stop()).map(({ totalOrders }) => totalOrders)

  expect(orders.length).toBeGreaterThan(100)
  expect(orders).toEqual(orders.toSorted((one, other) => one - other))
  const told = oracle([...right.records, ...wrong.records, ...sent])
  await expectAllAnswers(tally, right.festival.eventId, told, token)
  await expectAllAnswers(tally, wrong.festival.eventId, told, other)
  await expectClean(tally)
}, 600_000)

test('a rebuild that was killed starts over, and repairs what was damaged since', async () => {
  const first = newFestival({ eventId: '10000000-0000-4000-8000-00000000000a' })
  const second = newFestival({ eventId: '20000000-0000-4000-8000-00000000000b' })
  await tally.count([first, second].flatMap(festival => [festival.event(), festival.order()]))
  const { eventId } = first
  const { db } = tally.database
  const revision = async () => (await readEventHeads(db, [eventId as EventId]))[0]?.revision ?? 0
  const before = await revision()
  await db.transaction().execute(async tx => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await sql`select from event_heads where event_id = ${second.eventId} for update`.execute(tx)
    const killed = startProcess(['rebuild'], tally.settings)
    await until('the first event is rebuilt', async () => (await revision()) > before)
    await killed.end('SIGKILL')
  })
  await damage(tally, `update daily_counters set sales_cents = sales_cents + 1 where event_id = '${eventId}'`)
  await openShadow(db, 'tally', async () => true)

  const { stdout, stderr } = await rebuildAll(tally)
  expect(stderr).toContain('dropping what an interrupted --from-kafka has read')
  expect(stdout).toMatch(/^4 events rebuilt, 1 of them wrong in Postgres; all agree now/)
  const shadow = sql`select from pg_namespace where nspname = ${shadowSchema}`
  expect((await shadow.execute(db)).rows).toEqual([])
  await expectClean(tally)
}, 600_000)

test('of two rebuilds at once, the second waits a while and then says why it does not begin', async () => {
  const second = await asOnlyRebuild(tally.database.db, () => command(['rebuild'], tally.settings))
  expect(second).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'tally: another `tally rebuild` or `tally events remove` is running on this database: wait until it ends\n',
  })
  const entries = tally.database.db.selectFrom('audit_entries').select('action').orderBy('audit_id')
  const actions = (await entries.execute()).map(({ action }) => action)
  expect(actions.slice(-2)).toEqual(['rebuild-begun', 'rebuild-failed'])
  expect(actions).toContain('rebuild-finished')
})
