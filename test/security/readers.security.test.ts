import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { compareReaders } from '../hostile/differential/compare.ts'

const minutes = Number(process.env.TALLY_READERS_MINUTES || 2)
const seed = Number(process.env.TALLY_SEED ?? Date.now() % 2 ** 31)

const tally = useTally()
const festival = newFestival()

test(`the same bytes in all kinds of segments, for ${minutes} min from seed ${seed}`, async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const known = { path: `${festival.path}/live/item-counts`, token: await tally.key(festival.organizationId) }
  const conversations = await compareReaders(tally.queries[0]?.address ?? '', known, { seed, minutes })
  console.log(`${conversations} conversations`)
  expect(conversations).toBeGreaterThan(0)
})
