import type { KafkaRecord } from '../types.ts'
import { type BatchHeader, packedRecords } from './batchHeader.ts'
import type { Entry } from './entries.ts'
import { readKafkaRecord } from './record.ts'
import { recordStream } from './recordStream.ts'
import { inPieces, Source } from './source.ts'
import { streaming } from './streaming.ts'
import { readVarInt } from './varint.ts'

/** The most that is unpacked at once: far more than producers pack together, and quick to unpack. */
const wholeBatchBytes = 8 * 1024 * 1024

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
    const length = readVarInt(cursor)
    const end = cursor.at + length
    if (length < 0 || end > bytes.length) throw new Error('its records end too early')
    yield readKafkaRecord(cursor, header)
    if (cursor.at > end) throw new Error('a field that ends behind its record')
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
