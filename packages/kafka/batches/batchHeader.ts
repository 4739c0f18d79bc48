import type { Codec } from '../codecs/codec.ts'
import { codecs } from '../codecs/index.ts'
import type { Entry } from './entries.ts'

/** The header of a record batch (format 2). */
export type BatchHeader = {
  firstOffset: number
  /** The offset after it. */
  next: number
  firstTimestampMs: number
  /** The timestamp of every record if the broker stamps them (LogAppendTime); otherwise undefined. */
  appendedAtMs: number | undefined
  producerId: bigint
  isTransactional: boolean
  isControl: boolean
  count: number
  /** Undefined if the records are not compressed. */
  codec: Codec | undefined
}

const headerBytes = 61
const codecBits = 7
const logAppendTimeBit = 8
const transactionalBit = 16
const controlBit = 32

/** Throws if the codec is unknown. */
export function readHeader({ bytes, firstOffset, next }: Entry): BatchHeader {
  const attributes = bytes.readInt16BE(21)
  const codec = codecs.get(attributes & codecBits)
  if (codec === undefined && (attributes & codecBits) !== 0)
    throw new Error(`it is packed with the unknown codec ${attributes & codecBits}`)
  return {
    firstOffset,
    next,
    firstTimestampMs: Number(bytes.readBigInt64BE(27)),
    appendedAtMs: attributes & logAppendTimeBit ? Number(bytes.readBigInt64BE(35)) : undefined,
    producerId: bytes.readBigInt64BE(43),
    isTransactional: (attributes & transactionalBit) > 0,
    isControl: (attributes & controlBit) > 0,
    count: bytes.readInt32BE(57),
    codec,
  }
}

/** The records of a batch, still compressed. */
export const packedRecords = ({ bytes }: Entry): Buffer => bytes.subarray(headerBytes)
