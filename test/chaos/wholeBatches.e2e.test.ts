import { useTally } from '@tally/testkit/processes/tally'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { type Polled, revisionIn, startPolling } from './checks/polling.ts'
import { collectWrongs } from './checks/wrong.ts'
import { openLoad } from './load/load.ts'
import { randomFrom } from './load/random.ts'

const tally = useTally({ projectors: 2, queries: 2, partitions: 4 })

test('who polls all views while records are applied sees whole batches only, and no view goes back', async () => {
  const load = openLoad(20260904)
  const good = (count: number) => load.take(count).flatMap(({ record, isBad }) => (isBad ? [] : [record]))
  const organizations = load.organizations()
  await tally.count([...organizations, load.growing().event()])
  const tokens = new Map<string, string>()
  for (const { value } of organizations)
    tokens.set(value.organizationId, await tally.key(value.organizationId))

  const first = good(2_000)
  await tally.count(first)
  const targets = first
    .filter(({ type }) => type === 'events')
    .map(({ value: { eventId, organizationId } }) => ({
      eventId,
      token: tokens.get(organizationId) ?? '',
      grows: eventId === load.growing().eventId,
    }))
  const wrongs = collectWrongs(() => {})
  const queries = tally.queries.map(({ address }, index): Polled => ({ name: `query-${index}`, address }))
  const polling = startPolling({
    queries: () => queries,
    targets: () => targets,
    revisionOf: eventId => revisionIn(tally.database.db, eventId),
    random: randomFrom(1, 'polling'),
    wrongs,
    readers: 6,
  })
  // A batch of records every few milliseconds, until readers have met enough whole states of an event in between.
  await until('100 groups of views are compared', async () => {
    await tally.produce(good(20))
    return polling.seen().wholeBatches >= 100 || wrongs.list.length > 0
  })
  await tally.settle()
  await polling.stop()
  expect(wrongs.list).toEqual([])
  expect(targets.length).toBeGreaterThan(2)
})
