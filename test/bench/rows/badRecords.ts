import { deadLetterOf } from '@tally/dead-letters'
import { endOffsets, readTopic, recordTopics, topicNames } from '@tally/kafka'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, ratioAtLeast } from '../run/row.ts'
import { projectAll } from './projector.ts'

/** Mixed with as many bad ones, the good records keep 0.4 of their speed: a bad one costs 1.5 times a good one. */
export const badRecords: Row = {
  name: 'bad-records',
  about: 'good records/s with a bad record behind each order record, against the same good records alone',
  async run(bench) {
    const { orders, seed } = bench.options
    // Every other one comes twice: of the usual 200,000 that is 100,000 order records.
    const shape = evenShape(seed, Math.ceil(orders / 3))
    const good = await bench.data('good', () => shape)
    const mixed = await bench.data('good-and-bad', () => ({ ...shape, hasBad: true }))
    const samples = await alternate(bench, 'bad-records', {
      'with bad ones': () => projectGood(bench, mixed),
      alone: () => projectGood(bench, good),
    })
    bench.forget('good', 'good-and-bad')
    const [total, bad] = [good.total.toLocaleString('en'), mixed.bad.toLocaleString('en')]
    return {
      lines: [
        {
          row: 'bad-records',
          ours: measured(samples['with bad ones'], 'rate', `${total} good, ${bad} bad`, 'records/s'),
          against: measured(samples.alone, 'rate', 'the good ones alone', 'records/s'),
          goal: ratioAtLeast(0.4),
        },
      ],
      notes: ['bad-records: rates are of the good records alone; half of the bad ones are no JSON at all'],
    }
  },
}

/** The rate of the good records, once their answers are right and there are as many dead letters as bad ones. */
async function projectGood(bench: Bench, data: Preloaded): Promise<Sample> {
  const before = await endOfDeadLetters(bench, data)
  const sample = await projectAll(bench, data)
  const deadLetters = await deadLettersSince(bench, data, before)
  if (deadLetters !== data.bad)
    throw new Error(`${deadLetters} dead letters of ${data.bad} bad records, so there is no figure`)
  return sample
}

/** The offset of the next dead letter: those below it are of the rounds before, about the same records. */
async function endOfDeadLetters({ kafka }: Bench, { topicPrefix }: Preloaded): Promise<number> {
  const { deadLetters } = topicNames(topicPrefix)
  const end = (await endOffsets(kafka, [deadLetters])).get(deadLetters)?.get(0)?.end
  if (end === undefined) throw new Error(`Kafka names no end of ${deadLetters}`)
  return end
}

/** Counts the records that have a dead letter from an offset on. */
async function deadLettersSince(
  { kafka }: Bench,
  { topicPrefix }: Preloaded,
  first: number,
): Promise<number> {
  const names = topicNames(topicPrefix)
  const sources = recordTopics(names)
  const ids = new Set<string | undefined>()
  for await (const { records } of readTopic(kafka, names.deadLetters)) {
    for (const record of records) if (record.offset >= first) ids.add(deadLetterOf(record, sources)?.id)
  }
  return ids.size
}
