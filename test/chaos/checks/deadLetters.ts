import { rejectionReasons } from '@tally/contract'
import { type RecordHeaders, readTopic, topicNames } from '@tally/kafka'
import { badHeader } from '../load/load.ts'
import { prefix } from '../system/system.ts'
import type { Checking } from './checking.ts'

/** Whether a dead letter is for one record; the others name offsets that a command gave up. */
const isOfRecord = ({ headers }: { headers: RecordHeaders }) =>
  rejectionReasons.some(reason => reason === String(headers['tally.reason']))

/** Checks that every bad record in Kafka is a dead letter, and nothing else is. */
export async function checkDeadLetters({ system, feeding, wrongs }: Checking): Promise<void> {
  const deadLetters = new Map<string, Set<string>>()
  for await (const { records } of readTopic(system.kafka, topicNames(prefix).deadLetters)) {
    for (const { headers } of records.filter(isOfRecord)) {
      const number = String(headers[badHeader])
      const offset = ['topic', 'partition', 'offset']
        .map(name => String(headers[`__connect.errors.${name}`]))
        .join(' ')
      deadLetters.set(number, (deadLetters.get(number) ?? new Set()).add(offset))
    }
  }
  const missing = [...feeding.bad].filter(number => !deadLetters.has(number))
  const foreign = [...deadLetters.keys()].filter(number => !feeding.bad.has(number))
  if (missing.length > 0)
    wrongs.add('every bad record is a dead letter', `missing: ${missing.slice(0, 20)} (${missing.length})`)
  if (foreign.length > 0)
    wrongs.add('only a bad record is a dead letter', `foreign: ${foreign.slice(0, 20)} (${foreign.length})`)
}

/** Reads all topics again: dead letters have exactly the offsets of bad records, repeats too. Returns how many. */
export async function checkDeadLetterOffsets({ system, wrongs }: Checking): Promise<number> {
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
