import { expect, test } from 'vitest'
import { Decoder, Encoder } from '../client/flexible.ts'
import { decodeFetch, encodeFetch, type Wanted } from './fetch.ts'

const topicId = '00112233445566778899aabbccddeeff'
const named: Wanted = { topic: 'orders', partition: 3, offset: 258, maxBytes: 1024 }
const identified = { ...named, identity: { topicId, leaderEpoch: 5 } }
const limits = { maxWaitMs: 250, maxBytes: 65_536 }

/** Bytes as hexadecimal digits; spaces separate fields. */
const hex = (fields: string): Buffer => Buffer.from(fields.replaceAll(/\s/g, ''), 'hex')

test('a request names the topic by its id, and the leader epoch, without a fetch session', () => {
  const expected = hex(`
    ffffffff 000000fa 00000001 00010000 01 00000000 ffffffff
    02 ${topicId}
      02 00000003 00000005 0000000000000102 ffffffff ffffffffffffffff 00000400 00
      00
    01 01 00`)
  expect(encodeFetch(new Encoder(), limits, [identified]).buffer.toString('hex')).toBe(
    expected.toString('hex'),
  )
})

test('without an identity, the request names the topic by its name, and any leader epoch', () => {
  const expected = hex(`
    ffffffff 000000fa 00000001 00010000 01 00000000 ffffffff
    02 07 ${Buffer.from('orders').toString('hex')}
      02 00000003 ffffffff 0000000000000102 ffffffff ffffffffffffffff 00000400 00
      00
    01 01 00`)
  expect(encodeFetch(new Encoder(), limits, [named]).buffer.toString('hex')).toBe(expected.toString('hex'))
})

/** One partition of an answer: its error code, records (one byte more than their length first), tagged fields. */
const answered = (number: string, errorCode: string, records = '01', tagged = '00'): string => `
  ${number} ${errorCode} 000000000000012c 0000000000000122 0000000000000000
  02 0000000000000007 0000000000000103 00
  ffffffff ${records} ${tagged}`
const answer = (...partitions: string[]): Decoder =>
  new Decoder(
    hex(`00000009 0000 00000000
    02 ${topicId} ${(partitions.length + 1).toString(16).padStart(2, '0')} ${partitions.join(' ')} 00
    00`),
  )

const common = {
  topic: 'orders',
  topicId,
  highWatermark: 300,
  lastStableOffset: 290,
  abortedTransactions: [{ producerId: '7', firstOffset: '259' }],
}

test('records stay raw bytes, whatever tagged fields follow; they carry the topic id of their fetch', () => {
  const tagged = '02 00 0d 00000004 0000000000000100 00 01 09 00000002 00000006 00'
  const data = answer(answered('00000003', '0000', '04 abcdef', tagged))
  const partitions = [{ ...common, partition: 3, errorCode: 0, messages: hex('abcdef') }]
  expect(decodeFetch(data, [identified])).toEqual({ clientSideThrottleTime: 9, errorCode: 0, partitions })
})

test('a partition with an error has its code, and spoils no other', () => {
  const data = answer(answered('00000003', '004a'), answered('00000004', '0000', '04 abcdef'))
  const { partitions } = decodeFetch(data, [identified, { ...identified, partition: 4 }])
  expect(partitions).toEqual([
    { ...common, partition: 3, errorCode: 74, messages: hex('') },
    { ...common, partition: 4, errorCode: 0, messages: hex('abcdef') },
  ])
})
