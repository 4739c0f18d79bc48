import { createHash, hash as hashOf } from 'node:crypto'
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { type KafkaRecord, maxValueBytes } from '../types.ts'
import {
  type BatchHeader,
  noHeaders,
  packedRecords,
  readHeaders,
  readKafkaRecord,
  readStart,
  readVarInt,
} from './batchFormat.ts'
import type { Entry } from './fetchedBatch.ts'

/** The most that is unpacked at once: more than producers pack together, quick to unpack, and no value is too large. */
const wholeBatchBytes = maxValueBytes

/**
 * The records of a batch: at once if they are small enough to hold, as nearly always, otherwise as a stream that starts
 * once `turn` resolves. Throws if they cannot be unpacked or decoded.
 */
export async function recordsOf(
  entry: Entry,
  header: BatchHeader,
  turn: Promise<void>,
): Promise<Iterable<KafkaRecord> | AsyncIterable<KafkaRecord>> {
  const packed = packedRecords(entry)
  const bytes =
    header.codec === undefined
      ? packed.length <= wholeBatchBytes && packed
      : await header.codec.unpackAtMost(packed, wholeBatchBytes)
  return bytes ? allRecords(bytes, header) : streamed(packed, header, turn)
}

function* allRecords(bytes: Buffer, header: BatchHeader): Generator<KafkaRecord> {
  const cursor = { bytes, at: 0 }
  for (let i = 0; i < header.count; i++) {
    const end = readVarInt(cursor) + cursor.at
    const record = readKafkaRecord(cursor, header)
    if (cursor.at > end || end > bytes.length) throw new Error('a field that ends behind its record')
    yield record
    cursor.at = end
  }
}

async function* streamed(
  packed: Buffer,
  header: BatchHeader,
  turn: Promise<void>,
): AsyncGenerator<KafkaRecord> {
  await turn
  const done = await streaming()
  const source = new Source(header.codec === undefined ? inPieces(packed) : header.codec.unpack(packed))
  try {
    yield* recordStream(source, header)
  } finally {
    await source.close()
    done()
  }
}

/** The longest number, and the longest sequence of fields before a record's key. */
const numberBytes = 10
const startBytes = 1 + 2 * numberBytes

/**
 * Decodes the records of a batch that is too large to hold unpacked: each record is copied out of the stream; a value
 * that is too large is hashed and counted while it passes. However much a batch unpacks to, all of its records are
 * read: a bound would lose good records behind a bomb, and not save time, because several smaller bombs of as many
 * bytes take as long. Throws if the bytes are not records.
 */
async function* recordStream(source: Source, batch: BatchHeader): AsyncGenerator<KafkaRecord> {
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
  const end = source.at + length
  await source.fill(startBytes)
  const start = { bytes: source.ready, at: 0 }
  const record = readStart(start, batch)
  source.take(start.at)

  const key = await field(source, await takeNumber(source), end)
  const value = await field(source, await takeNumber(source), end)
  const headers = await field(source, end - source.at, end)
  const isWhole = [key, value, headers].every(({ length }) => length <= maxValueBytes)
  return {
    ...record,
    key: key.bytes,
    value: isWhole ? value.bytes : null,
    headers: headers.bytes === null ? noHeaders : readHeaders({ bytes: headers.bytes, at: 0 }),
    ...(!isWhole && { leftOut: { bytes: value.length, sha256: value.sha256() } }),
  }
}

/** Without its bytes if they are too many, or if it is null. */
type Field = { length: number; bytes: Buffer | null; sha256(): string }

/** `end`: where its record ends. */
async function field(source: Source, length: number, end: number): Promise<Field> {
  if (length < -1 || source.at + length > end) throw new Error('a field that ends behind its record')
  if (length <= maxValueBytes) {
    const bytes = length === -1 ? null : await source.copy(length)
    return { length: Math.max(0, length), bytes, sha256: () => hashOf('sha256', bytes ?? '') }
  }
  const hash = createHash('sha256')
  await source.pass(length, piece => hash.update(piece))
  return { length, bytes: null, sha256: () => hash.digest('hex') }
}

async function takeNumber(source: Source): Promise<number> {
  if (source.ready.length < numberBytes) await source.fill(numberBytes)
  const cursor = { bytes: source.ready, at: 0 }
  const number = readVarInt(cursor)
  source.take(cursor.at)
  return number
}

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>

/** Synchronous unpacking yields after this long: each step of another partition's batch waits for it. */
const longestStretchMs = 4

/** Bytes that arrive piece by piece; only what was requested is held. */
class Source {
  readonly #pieces: AsyncIterator<Buffer> | Iterator<Buffer>
  /** The rest of the last piece: valid until the next one is requested. */
  #rest: Buffer = Buffer.alloc(0)
  #stretchBegan = performance.now()
  /** How many bytes were taken. */
  at = 0

  constructor(pieces: Pieces) {
    this.#pieces = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  }

  /** The bytes that are available without waiting; read them at once, then `take` them. */
  get ready(): Buffer {
    return this.#rest
  }

  take(length: number): void {
    this.#rest = this.#rest.subarray(length)
    this.at += length
  }

  /** Makes this many bytes available, or all that are left. For a few bytes: it copies what is available. */
  async fill(length: number): Promise<void> {
    for (let hasMore = true; hasMore && this.#rest.length < length; ) {
      const before = Buffer.from(this.#rest)
      hasMore = await this.#pull()
      this.#rest = Buffer.concat([before, this.#rest])
    }
  }

  /** Takes this many bytes as a copy of their own. Throws if there are fewer. */
  async copy(length: number): Promise<Buffer> {
    const copied = Buffer.allocUnsafeSlow(length)
    let at = 0
    await this.pass(length, piece => {
      at += piece.copy(copied, at)
    })
    return copied
  }

  /** Takes this many bytes without holding them. Throws if there are fewer. */
  async pass(length: number, look: (piece: Buffer) => void): Promise<void> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#pull())) throw new Error('its records end too early')
      const piece = this.#rest.subarray(0, left)
      look(piece)
      this.take(piece.length)
      left -= piece.length
    }
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  async #pull(): Promise<boolean> {
    if (performance.now() - this.#stretchBegan > longestStretchMs) {
      await yieldToOthers()
      this.#stretchBegan = performance.now()
    }
    const { done, value } = await this.#pieces.next()
    this.#rest = done ? Buffer.alloc(0) : value
    return !done
  }
}

/** Uncompressed bytes, as pieces. */
function* inPieces(bytes: Buffer): Generator<Buffer> {
  const length = 256 * 1024
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

/** Each may take 128 MiB: the largest window of Zstandard. */
const maxStreams = 2

let running = 0
const waiting: (() => void)[] = []

/** Waits until this process may unpack one more batch as a stream. Returns a function to call when it is done. */
async function streaming(): Promise<() => void> {
  if (running < maxStreams) running++
  else await new Promise<void>(resolve => waiting.push(resolve))
  return () => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

/** SHA-256 over a record's offset, timestamp, key and value; a record of another log has a different one. */
export function fingerprintOf({
  offset,
  timestampMs,
  key,
  value,
  leftOut,
}: Pick<KafkaRecord, 'offset' | 'timestampMs' | 'key' | 'value' | 'leftOut'>): Buffer {
  const hash = createHash('sha256')
  const leftOutHash = leftOut?.sha256 ?? ''
  hash.update(`${offset} ${timestampMs} ${key?.length ?? -1} ${value?.length ?? -1} ${leftOutHash}\n`)
  if (key !== null) hash.update(key)
  if (value !== null) hash.update(value)
  hash.update(leftOutHash)
  return hash.digest()
}
