import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { isObject, jsonOf, type RecordType, recordTypes } from '@tally/contract'
import { linesOfFile, recordLineOf, topicRule } from '@tally/feed'
import { type KafkaRecord, maxValueBytes } from '@tally/kafka'

/** A value of 8 MiB as a JSON string can be six times as long. */
const maxLineBytes = 7 * maxValueBytes

type Line = { line: number } & (
  | { type: RecordType; partition: number | undefined; record: KafkaRecord }
  | { wrong: string }
)

/**
 * Reads a file (`-` is stdin, `.gz` is unpacked) as a stream, one record a line. With `type` a line is the value of a
 * record of that type; otherwise it is an object with `topic`, `key` and `value`, as `tally feed --data` takes it, or
 * with `payload` in place of `value` and a `partition`, as `kcat -J` prints it. Blank lines are left out. Throws if the
 * file cannot be read, or is UTF-16.
 */
export async function* readLines(file: string, type: RecordType | undefined): AsyncGenerator<Line> {
  const bytes = file === '-' ? process.stdin : createReadStream(file)
  const failure = `cannot read ${file === '-' ? 'stdin' : file} to its end`
  for await (const { number, line } of linesOfFile(file, bytes, { failure, maxBytes: maxLineBytes })) {
    if (number === 1 && isUtf16(line))
      throw new Error(`${failure}: it is UTF-16, convert it first (iconv -f UTF-16 -t UTF-8)`)
    yield { line: number, ...(type === undefined ? describedRecord(line) : bareRecord(type, line)) }
  }
}

/** Windows PowerShell writes UTF-16 with `>`; a line break in it is not a byte, so it has no lines to judge. */
const isUtf16 = ([first, second]: Buffer): boolean =>
  (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

/** A line that is the value itself: its key is taken to be right. */
function bareRecord(type: RecordType, value: Buffer) {
  const json = jsonOf(value.toString('utf8'))
  const id = isObject(json) ? json[recordTypes[type].keyField] : undefined
  const key = typeof id === 'string' ? Buffer.from(id.toLowerCase()) : null
  return { type, partition: undefined, record: recordOf(key, value) }
}

const takes = 'must be an object with topic, key and value (or give --type, if each line is a value)'

function describedRecord(content: Buffer) {
  if (content.length > maxLineBytes) return { wrong: `must have at most ${maxLineBytes} bytes` }
  // Read as text, other bytes would become U+FFFD, and the record would seem good.
  if (!isUtf8(content)) return { wrong: 'must be UTF-8, and is another encoding (Latin-1?)' }
  const text = content.toString('utf8')
  if (text.startsWith('\ufeff')) return { wrong: 'must begin without a byte order mark' }
  const json = jsonOf(text)
  if (!isObject(json) || !('value' in json || 'payload' in json)) return { wrong: takes }
  const read = recordLineOf(json)
  if (read === undefined) return { wrong: `topic: ${topicRule}` }
  const { topic: type, key = null, value, partition } = read
  if (key !== null && typeof key !== 'string') return { wrong: 'key: must be a text or null' }
  const record = recordOf(key === null ? null : Buffer.from(key), bytesOf(value))
  return { type, partition: typeof partition === 'number' ? partition : undefined, record }
}

/** A text is the value as it is, which may be wrong on purpose; anything else is its JSON. */
function bytesOf(value: unknown): Buffer | null {
  if (value === null) return null
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
}

function recordOf(key: Buffer | null, value: Buffer | null): KafkaRecord {
  const record = { offset: 0, timestampMs: -1, key, value, headers: {} }
  if (value === null || value.length <= maxValueBytes) return record
  return { ...record, value: null, leftOut: { bytes: value.length, sha256: '' } }
}
