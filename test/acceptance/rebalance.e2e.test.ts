import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { useTally } from '@tally/testkit/processes/tally'
import { season } from '@tally/testkit/records/season'
import { expect, test } from 'vitest'

const tally = useTally({ partitions: 4 })

test('projectors that join and leave under load hand their partitions over exactly', async () => {
  const { festivals, records } = season(42, { events: 8, orders: 300 })
  let next = 0
  const some = async () => {
    await tally.produce(records.slice(next, next + 100))
    next += 100
  }
  const under = async <T>(load: Promise<T>): Promise<T> => {
    let isDone = false
    const done = load.finally(() => {
      isDone = true
    })
    while (!isDone && next < records.length * 0.9) await some()
    return done
  }
  const assigned = (process: { line: (typeof tally.projectors)[number]['line'] }) =>
    process.line(({ msg, partitions }) => msg === 'partitions assigned' && Number(partitions) > 0)

  await some()
  const second = await under(tally.startProjector())
  await under(assigned(second))
  const [first] = tally.projectors
  expect(await under(first?.end('SIGTERM') ?? Promise.resolve(null))).toBe(0)
  const third = await under(tally.startProjector())
  await under(assigned(third))
  expect(await under(second.end('SIGTERM'))).toBe(0)
  while (next < records.length) await some()
  await tally.settle()
  await expectSeason(tally, festivals, records)
})
