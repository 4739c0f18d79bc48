import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { batchBytes, fetchOf, readAll } from '../batches/testing.ts'
import { encodeRecord } from './encodeRecord.ts'

// kafkajs as it is, which the patch must equal, byte for byte, wherever kafkajs does not throw.
const require = createRequire(import.meta.url)
const Record = require('kafkajs/src/protocol/recordBatch/record/v0/index.js')

const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array))
const text = fc.string({ unit: 'binary', maxLength: 100 }).map(one => one.toWellFormed())
const one = fc.oneof(bytes, text)
const nullable = fc.option(one)
const record = fc.record({
  key: nullable,
  value: nullable,
  timestampDelta: fc.integer({ min: 0, max: 2 ** 30 }),
  offsetDelta: fc.nat({ max: 100_000 }),
  headers: fc.dictionary(text, fc.oneof(one, fc.array(one, { minLength: 1, maxLength: 3 })), { maxKeys: 6 }),
})

test('a record is encoded as kafkajs encodes it', () => {
  fc.assert(
    fc.property(record, one => {
      expect(encodeRecord(one).buffer.equals(Record(one).buffer)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('headers whose value is null, one of several too, are read as they were sent', async () => {
  const headers = { none: null, some: [Buffer.from('a'), null] }
  const bytes = await batchBytes({ firstOffset: 0, records: [{ value: 'v', headers }, { value: 'w' }] })
  const { records, error } = await readAll(fetchOf(bytes))
  expect(error).toBeUndefined()
  expect(records.map(one => ({ ...one.headers }))).toEqual([headers, {}])
})
