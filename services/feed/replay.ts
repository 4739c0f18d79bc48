import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isObject, jsonOf } from '@tally/contract'
import { linesOfFile } from './lines.ts'
import type { FeedRecord, FeedSource, FeedTopic } from './record.ts'
import { recordLineOf, topicRule } from './recordLine.ts'

/** The field that holds a record's own time; organizations and events go out with the record before them. */
const timeFields: Partial<Record<FeedTopic, string>> = { orders: 'orderDateTime', refunds: 'refundedAt' }

/**
 * Opens a file of JSON lines `{"topic","key","value"}`, compressed if its name ends in `.gz`. It is read as a stream,
 * in order, without blank lines. The topics may have any prefix: TOPIC_PREFIX decides where they go. A line that is not
 * such an object ends the stream with an error that names the line.
 */
export async function openReplay(file: string): Promise<FeedSource> {
  const { size } = await stat(file).catch((cause: Error) => {
    throw new Error(`--data: cannot read ${file}: ${cause.message}`, { cause })
  })
  const bytes = createReadStream(file)
  return { records: recordsOf(file, bytes), share: () => (size === 0 ? 1 : bytes.bytesRead / size) }
}

async function* recordsOf(
  file: string,
  bytes: ReturnType<typeof createReadStream>,
): AsyncGenerator<FeedRecord> {
  const failure = `--data: cannot read ${file} to its end`
  for await (const { number, line } of linesOfFile(file, bytes, { failure }))
    yield parseLine(line, `${file}, line ${number}`)
}

/**
 * One line as a record. `value` is an object, sent as its JSON, or a text, sent as it is (which may be a bad
 * record on purpose), or null, a record without a value.
 */
function parseLine(line: Buffer, place: string): FeedRecord {
  const read = recordLineOf(objectOf(line, place))
  if (read === undefined) throw new Error(`${place}: topic ${topicRule}`)
  const { topic, key, value } = read
  if (key !== null && typeof key !== 'string') throw new Error(`${place}: key must be a text or null`)
  if (value === null || typeof value === 'string') return { atMs: null, topic, key, value }
  if (!isObject(value)) throw new Error(`${place}: value must be an object, a text or null`)
  return { atMs: ownTimeOf(topic, value), topic, key, value: JSON.stringify(value) }
}

function objectOf(line: Buffer, place: string): Record<string, unknown> {
  const parsed = isUtf8(line) ? jsonOf(line.toString('utf8')) : undefined
  if (isObject(parsed)) return parsed
  throw new Error(`${place}: not a JSON object {"topic","key","value"} in UTF-8`)
}

function ownTimeOf(topic: FeedTopic, value: Record<string, unknown>): number | null {
  const text = value[timeFields[topic] ?? '']
  const atMs = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : atMs
}
