import { createRequire } from 'node:module'
import { crc32 } from 'node:zlib'
import type { KafkaRecord } from '../types.ts'
import type { Entry } from './entries.ts'
import { noHeaders } from './record.ts'

type Message = { offset: string; timestamp?: string; key: Buffer | null; value: Buffer | null }

const crcAt = 12
const magicAt = 16

/**
 * Reads an entry in a format from before Kafka 0.11 (magic 0 and 1) with kafkajs's decoder: current brokers do not
 * write them, but logs may still hold them. Throws if it is damaged.
 */
export async function readMessageSet({ bytes, firstOffset }: Entry): Promise<KafkaRecord[]> {
  if (crc32(bytes.subarray(magicAt)) !== bytes.readUInt32BE(crcAt)) throw new Error('its checksum is wrong')
  const require = createRequire(import.meta.url)
  const Decoder = require('kafkajs/src/protocol/decoder.js')
  const decode = require('kafkajs/src/protocol/messageSet/decoder.js')
  const messages: Message[] = await decode(new Decoder(bytes), bytes.length)
  // kafkajs treats a message that is cut off as the end.
  if (Number(messages.at(-1)?.offset) !== firstOffset) throw new Error('its messages end too early')
  return messages.map(({ offset, timestamp, key, value }) => ({
    offset: Number(offset),
    timestampMs: Number(timestamp ?? -1),
    key,
    value,
    headers: noHeaders,
  }))
}
