import { rejectionReasons } from '@tally/contract'
import { type RecordHeaders, readTopic, topicNames } from '@tally/kafka'
import { badHeader } from '../load/load.ts'
import { prefix } from '../system/system.ts'
import type { Checking } from './checking.ts'

/** Whether a dead letter is for one record; the others name offsets that a command gave up. */
const isOfRecord = ({ headers }: { headers: RecordHeaders }) =>
  rejectionReasons.some(reason => reason === String(headers['tally.reason']))

/** Reads all topics: dead letters have exactly the offsets of bad records, repeats too. Returns how many. */
export async function checkDeadLetters({ system, wrongs }: Checking): Promise<number> {
  const { deadLetters, ...sources } = topicNames(prefix)
  const bad = new Set<string>()
  for (const topic of Object.values(sources)) {
    for await (const { partition, records } of readTopic(system.kafka, topic)) {
      for (const { headers, offset } of records) {
        if (headers[badHeader] !== undefined) bad.add(`${topic} ${partition} ${offset}`)
      }
    }
  }
  const reported = new Set<string>()
  for await (const { records } of readTopic(system.kafka, deadLetters)) {
    for (const { headers } of records.filter(isOfRecord))
      reported.add(
        ['topic', 'partition', 'offset'].map(name => String(headers[`__connect.errors.${name}`])).join(' '),
      )
  }
  const missing = [...bad].filter(offset => !reported.has(offset))
  const more = [...reported].filter(offset => !bad.has(offset))
  if (missing.length + more.length > 0)
    wrongs.add("dead letters' offsets are those of the bad records", { missing, more })
  return bad.size
}
