import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { useTally } from '@tally/testkit/processes/tally'
import { season } from '@tally/testkit/records/season'
import { expect, test } from 'vitest'

const tally = useTally({ projectors: 2, partitions: 3 })
const given = Number(process.env.TALLY_SEED ?? 0)
const seeds = given > 0 ? [given] : Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * 1e9))

test.for(seeds)('any records in any order answer as a count by hand (TALLY_SEED=%i)', async seed => {
  const { festivals, records } = season(seed)
  expect(records.length).toBeGreaterThan(400)
  // Sent in a few waves, so that later records change what is already counted.
  for (let start = 0; start < records.length; start += 97)
    await tally.produce(records.slice(start, start + 97))
  await tally.settle()
  await expectSeason(tally, festivals, records)
})
