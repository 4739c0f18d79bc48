import { expect, test } from 'vitest'
import { addFetchById, decodeFetch, encodeFetch, type FetchRequest } from './fetchById.ts'

const topicId = '00112233445566778899aabbccddeeff'
const partition = { partition: 3, fetchOffset: '258', maxBytes: 1024, topicId, leaderEpoch: 5 }
const request = {
  maxWaitTime: 250,
  minBytes: 1,
  maxBytes: 65_536,
  topics: [{ topic: 'orders', partitions: [partition] }],
}

/** Bytes as hexadecimal digits; spaces separate fields. */
const hex = (fields: string): Buffer => Buffer.from(fields.replaceAll(/\s/g, ''), 'hex')

test('a request names the topic by its id, and the leader epoch, without a fetch session', () => {
  const expected = hex(`
    00 ffffffff 000000fa 00000001 00010000 01 00000000 ffffffff
    02 ${topicId}
      02 00000003 00000005 0000000000000102 ffffffff ffffffffffffffff 00000400 00
      00
    01 01 00`)
  expect(encodeFetch(request).buffer.toString('hex')).toBe(expected.toString('hex'))
})

/**
 * One partition of an answer, with its error code, records (one byte more than their length first) and tagged fields.
 */
const answered = (number: string, errorCode: string, records = '01', tagged = '00'): string => `
  ${number} ${errorCode} 000000000000012c 000000000000012c 0000000000000000
  02 0000000000000007 0000000000000103 00
  ffffffff ${records} ${tagged}`
const answer = (...partitions: string[]): Buffer =>
  hex(`00 00000009 0000 00000000
    02 ${topicId} ${(partitions.length + 1).toString(16).padStart(2, '0')} ${partitions.join(' ')} 00
    00`)

test('a partition without records is left out, unless it has an error', () => {
  const data = answer(answered('00000003', '0000'), answered('00000004', '0001'))
  const { responses } = decodeFetch(data, request)
  expect(responses[0]?.partitions.map(one => one.partition)).toEqual([4])
})

test('records stay raw bytes, whatever tagged fields follow; they carry the topic id of their fetch', () => {
  const tagged = '02 00 0d 00000004 0000000000000100 00 01 09 00000002 00000006 00'
  const data = answer(answered('00000003', '0000', '04 abcdef', tagged))
  const { responses, refused, clientSideThrottleTime } = decodeFetch(data, request)
  expect(clientSideThrottleTime).toBe(9)
  expect(refused).toEqual([])
  const common = {
    topicId,
    errorCode: 0,
    highWatermark: '300',
    abortedTransactions: [{ producerId: '7', firstOffset: '259' }],
    preferredReadReplica: -1,
  }
  expect(responses).toEqual([
    {
      topicName: 'orders',
      partitions: [{ ...common, partition: 3, messages: hex('abcdef') }],
    },
  ])
})

test.each([
  { name: 'UNKNOWN_TOPIC_ID', errorCode: '0064', isOther: true },
  { name: 'INCONSISTENT_TOPIC_ID', errorCode: '0067', isOther: true },
  { name: 'FENCED_LEADER_EPOCH', errorCode: '004a', isOther: true },
  { name: 'UNKNOWN_LEADER_EPOCH', errorCode: '004b', isOther: false },
  { name: 'NOT_LEADER_OR_FOLLOWER', errorCode: '0006', isOther: false },
])('$name refuses its own partition and no other', ({ errorCode, isOther }) => {
  const data = answer(answered('00000003', errorCode), answered('00000004', '0000', '04 abcdef'))
  const { responses, refused } = decodeFetch(data, request)
  expect(refused).toEqual([{ topic: 'orders', partition: 3, isOther }])
  expect(responses[0]?.partitions.map(one => one.partition)).toEqual([4])
})

test('a request without the ids of all partitions is sent by name', () => {
  const byName = (apiVersion: number) => (_: FetchRequest) => ({
    request: { apiVersion },
    response: {},
    requestTimeout: 350,
  })
  const fetch = { versions: ['11'], protocol: ({ version }: { version: number }) => byName(version) }
  addFetchById(fetch, { parse: async data => data, createErrorFromCode: () => new Error() })
  const { topicId: _, ...named } = partition
  const mixed = { ...request, topics: [{ topic: 'orders', partitions: [partition, named] }] }
  const versionOf = (of: FetchRequest) => fetch.protocol({ version: 13 })(of).request.apiVersion
  expect([versionOf(request), versionOf(mixed)]).toEqual([13, 11])
})
