import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { type Tally, useTally } from '@tally/testkit/processes/tally'
import { dice, season } from '@tally/testkit/records/season'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const tally = useTally({ partitions: 3 })

test('a projector that is killed in mid-batch, again and again, leaves exact answers behind', async () => {
  const { festivals, records } = season(20260904, { events: 4, orders: 400 })
  const roll = dice(7)
  const bad = { type: 'orders' as const, key: 'x', value: Buffer.from('bad') }
  const sending = (async () => {
    for (let start = 0; start < records.length; start += 250) {
      await tally.produce([...records.slice(start, start + 250), bad])
    }
  })()
  let kills = 0
  for (const share of [0.05, 0.25, 0.5, 0.75]) {
    await until(`${share} of it is counted`, async () => (await applied(tally)) >= share * records.length)
    // Somewhere within the next batches, which take some tens of milliseconds each.
    const wait = roll(60)
    await until('a moment later', elapsed(wait))
    const [victim] = tally.projectors.splice(0, 1)
    const [code] = await Promise.all([victim?.end('SIGKILL'), tally.startProjector()])
    expect(code).toBeNull()
    kills++
  }
  expect(kills).toBe(4)
  await sending
  await tally.settle()
  await expectSeason(tally, festivals, records)

  const offsets = (await readDeadLetters(tally)).map(
    ({ headers }) => `${headers['__connect.errors.partition']}-${headers['__connect.errors.offset']}`,
  )
  expect(new Set(offsets).size).toBe(Math.ceil(records.length / 250))
})

/** How many records' offsets are stored as applied. */
async function applied({ database }: Tally): Promise<number> {
  const { total } = await database.db
    .selectFrom('shard_offsets')
    .select(({ fn }) => fn.sum<string>('next_offset').as('total'))
    .executeTakeFirstOrThrow()
  return Number(total ?? 0)
}

function elapsed(waitMs: number): () => boolean {
  const since = performance.now()
  return () => performance.now() - since >= waitMs
}
