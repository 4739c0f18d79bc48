import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isObject, jsonOf, type RecordType, recordTypes } from '@tally/contract'
import { linesOf } from '@tally/feed'
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
 * with `payload` in place of `value` and a `partition`, as `kcat -J` prints it. Blank lines are left out.
 */
export async function* readLines(file: string, type: RecordType | undefined): AsyncGenerator<Line> {
  const bytes = file === '-' ? process.stdin : createReadStream(file)
  // pipeline passes an error of the file to the unpacked stream, which the loop below reads.
  const unpacked = file.endsWith('.gz') ? pipeline(bytes, createGunzip(), () => undefined) : bytes
  let line = 0
  try {
    for await (const content of linesOf(unpacked, maxLineBytes)) {
      line++
      if (content.every(isSpace)) continue
      yield { line, ...(type === undefined ? describedRecord(content) : bareRecord(type, content)) }
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`cannot read ${file === '-' ? 'stdin' : file} to its end: ${reason}`, { cause })
  } finally {
    bytes.destroy()
  }
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0d || byte === 0x09

/** A line that is the value itself: its key is taken to be right. */
function bareRecord(type: RecordType, value: Buffer) {
  const json = jsonOf(value.toString('utf8'))
  const id = isObject(json) ? json[recordTypes[type].keyField] : undefined
  const key = typeof id === 'string' ? Buffer.from(id.toLowerCase()) : null
  return { type, partition: undefined, record: recordOf(key, value) }
}

const takes = 'must be an object with topic, key and value (or give --type, if each line is a value)'
const types = Object.keys(recordTypes) as RecordType[]

function describedRecord(content: Buffer) {
  if (content.length > maxLineBytes) return { wrong: `must have at most ${maxLineBytes} bytes` }
  const json = jsonOf(content.toString('utf8'))
  if (!isObject(json) || !('value' in json || 'payload' in json)) return { wrong: takes }
  const { topic, key = null, partition } = json
  const type = types.find(type => topic === type || String(topic).endsWith(`.${type}`))
  if (type === undefined) return { wrong: `topic: must end with one of ${types.join(', ')}` }
  if (key !== null && typeof key !== 'string') return { wrong: 'key: must be a text or null' }
  const value = 'value' in json ? json.value : json.payload
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
