import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { compareReaders } from './differential/compare.ts'

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=1000000,ActiveDayPass=1000000,Inactive=1000000' } })
const festival = newFestival()

test('the same bytes get the same answers from each reader of requests, in whatever segments they arrive', async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const known = { path: `${festival.path}/analytics/kpis`, token: await tally.key(festival.organizationId) }
  const seed = Number(process.env.TALLY_SEED ?? 1)
  const runs = 60
  expect(await compareReaders(tally.queries[0]?.address ?? '', known, { seed, runs })).toBe(runs)
})
