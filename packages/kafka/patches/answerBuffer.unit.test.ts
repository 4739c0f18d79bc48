import { createRequire } from 'node:module'
import { beforeEach, expect, test } from 'vitest'
import type { Buffered } from './reconnect.ts'
import '../client/kafkajs.ts'

type Answer = { correlationId: number; payload: Buffer }
type Connection = Buffered & {
  processData(bytes: Buffer): void
  requestQueue: { fulfillRequest: (answer: Answer) => void }
}
const Connection: new (options: object) => Connection = createRequire(import.meta.url)(
  'kafkajs/src/network/connection.js',
)
const silent = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => silent }

let connection: Connection
let answers: Answer[] = []
beforeEach(() => {
  connection = new Connection({ host: 'host', port: 1, logger: silent })
  answers = []
  connection.requestQueue.fulfillRequest = answer => void answers.push(answer)
})

const small = 100
const large = 300_000
const payloads = [small, large, large + 1, small, small, large].map((size, index) =>
  Buffer.alloc(size, index),
)
const sent = Buffer.concat(payloads.map(answerOf))

function answerOf(payload: Buffer, correlationId: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeInt32BE(4 + payload.length, 0)
  head.writeInt32BE(correlationId, 4)
  return Buffer.concat([head, payload])
}

test.for([2, 4, 7, 100, 65_536, 299_999, 300_008, 500_000, 10_000_000])(
  'answers are the same when they arrive %i bytes at a time',
  size => {
    for (let at = 0; at < sent.length; at += size) connection.processData(sent.subarray(at, at + size))
    expect(answers.map(({ correlationId }) => correlationId)).toEqual([0, 1, 2, 3, 4, 5])
    answers.forEach(({ payload }, index) => {
      expect(payload.equals(payloads[index] as Buffer)).toBe(true)
    })
  },
)

test('chunks of a large answer are not kept until the answer is whole', () => {
  const [first, ...rest] = [0, 65_536, 131_072].map(at =>
    answerOf(payloads[1] as Buffer, 1).subarray(at, at + 65_536),
  )
  connection.processData(first as Buffer)
  for (const chunk of rest) connection.processData(chunk)
  expect(connection.chunks).toEqual([])
  expect(answers).toEqual([])
})

test('nothing keeps a large answer after it was passed on', () => {
  const bytes = answerOf(payloads[1] as Buffer, 1)
  connection.processData(bytes.subarray(0, 65_536))
  connection.processData(bytes.subarray(65_536))
  expect(answers).toHaveLength(1)
  expect([connection.answer, connection.chunks]).toEqual([undefined, []])
})
