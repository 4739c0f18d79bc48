import { createHash, hash as hashOf } from 'node:crypto'
import { type KafkaRecord, maxValueBytes } from '../types.ts'
import type { BatchHeader } from './batchHeader.ts'
import { noHeaders, readHeaders, readKafkaRecord, readStart } from './record.ts'
import type { Source } from './source.ts'
import { readVarInt } from './varint.ts'

/** The longest number, and the longest sequence of fields before a record's key. */
const numberBytes = 10
const startBytes = 1 + 2 * numberBytes

/**
 * Decodes the records of a batch that is too large to hold unpacked: each record is copied out of the stream; a value
 * that is too large is hashed and counted while it passes. However much a batch unpacks to, all of its records are
 * read: a bound would lose good records behind a bomb, and not save time, because several smaller bombs of as many
 * bytes take as long. Throws if the bytes are not records.
 */
export async function* recordStream(source: Source, batch: BatchHeader): AsyncGenerator<KafkaRecord> {
  for (let i = 0; i < batch.count; i++) yield await nextRecord(source, await takeNumber(source), batch)
}

async function nextRecord(source: Source, length: number, batch: BatchHeader): Promise<KafkaRecord> {
  if (length > maxValueBytes) return largeRecord(source, length, batch)
  if (length < 0) throw new Error('its records end too early')
  if (source.ready.length < length) return readKafkaRecord({ bytes: await source.copy(length), at: 0 }, batch)
  const bytes = Buffer.from(source.ready.subarray(0, length))
  source.take(length)
  return readKafkaRecord({ bytes, at: 0 }, batch)
}

/** Decodes a record field by field. A key or headers that are too large are left out, and with them the value. */
async function largeRecord(source: Source, length: number, batch: BatchHeader): Promise<KafkaRecord> {
  let left = length
  const number = async (): Promise<number> => {
    const before = await peekNumber(source)
    source.take(before.bytes)
    left -= before.bytes
    return before.number
  }
  await source.fill(startBytes)
  const start = { bytes: source.ready, at: 0 }
  const record = readStart(start, batch)
  source.take(start.at)
  left -= start.at

  const key = await field(source, await number(), left)
  left -= key.length
  const value = await field(source, await number(), left)
  left -= value.length
  const headers = await field(source, left, left)
  const isWhole = !key.isLarge && !value.isLarge && !headers.isLarge
  return {
    ...record,
    key: key.bytes,
    value: isWhole ? value.bytes : null,
    headers: headers.bytes === null ? noHeaders : readHeaders({ bytes: headers.bytes, at: 0 }),
    ...(!isWhole && { leftOut: { bytes: value.length, sha256: value.sha256() } }),
  }
}

type Field = { length: number; isLarge: boolean; bytes: Buffer | null; sha256(): string }

async function field(source: Source, length: number, left: number): Promise<Field> {
  if (length < -1 || length > left) throw new Error('a field that ends behind its record')
  if (length <= maxValueBytes) {
    const bytes = length === -1 ? null : await source.copy(length)
    return {
      length: Math.max(0, length),
      isLarge: false,
      bytes,
      sha256: () => hashOf('sha256', bytes ?? ''),
    }
  }
  const hash = createHash('sha256')
  await source.pass(length, piece => hash.update(piece))
  return { length, isLarge: true, bytes: null, sha256: () => hash.digest('hex') }
}

async function peekNumber(source: Source): Promise<{ number: number; bytes: number }> {
  if (source.ready.length < numberBytes) await source.fill(numberBytes)
  const cursor = { bytes: source.ready, at: 0 }
  const number = readVarInt(cursor)
  return { number, bytes: cursor.at }
}

async function takeNumber(source: Source): Promise<number> {
  const { number, bytes } = await peekNumber(source)
  source.take(bytes)
  return number
}
