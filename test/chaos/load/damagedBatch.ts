import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { crc32c } from '@node-rs/crc32'
import { inside } from '@tally/kafka'
import type { System } from '../system/system.ts'
import type { outgoingOf } from './feeding.ts'

/** Offsets of fields in a record batch of format 2. */
const lengthAt = 8
const lengthEnd = 12
const crcAt = 17
const attributesAt = 21
const recordsAt = 61
const gzip = 1

export type DamagedBatch = { topic: string; partition: number; offset: number; repair: () => void }

/**
 * Sends a compressed batch of one record to Kafka and then overwrites its compressed bytes on the disk, because no
 * broker accepts such a batch from a producer. The checksum is adjusted, because otherwise a Kafka that was killed
 * truncates the log there when it starts. No process may have read the batch before.
 */
export async function writeDamagedBatch(
  { kafka, dataFolder }: System,
  { topic, key, value }: ReturnType<typeof outgoingOf>,
): Promise<DamagedBatch> {
  const producer = inside(kafka).kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const sent = await producer
    .send({ topic, compression: gzip, messages: [{ key, value }] })
    .finally(() => producer.disconnect())
  const [{ partition = 0, baseOffset = '0' } = {}] = sent
  const folder = join(dataFolder, 'kafka/data', `${topic}-${partition}`)
  const log = join(
    folder,
    readdirSync(folder)
      .filter(name => name.endsWith('.log'))
      .sort()
      .at(-1) ?? '',
  )
  const { at, batch } = batchIn(readFileSync(log), Number(baseOffset))
  const damaged = Buffer.from(batch)
  damaged.fill(0x5a, recordsAt)
  damaged.writeUInt32BE(crc32c(damaged.subarray(attributesAt)), crcAt)
  writeAt(log, at, damaged)
  return { topic, partition, offset: Number(baseOffset), repair: () => writeAt(log, at, batch) }
}

function batchIn(bytes: Buffer, offset: number): { at: number; batch: Buffer } {
  for (let at = 0; at < bytes.length; ) {
    const end = at + lengthEnd + bytes.readInt32BE(at + lengthAt)
    if (Number(bytes.readBigInt64BE(at)) === offset) return { at, batch: bytes.subarray(at, end) }
    at = end
  }
  throw new Error(`the log has no batch at offset ${offset}`)
}

function writeAt(file: string, at: number, bytes: Buffer): void {
  const open = openSync(file, 'r+')
  writeSync(open, bytes, 0, bytes.length, at)
  closeSync(open)
}
