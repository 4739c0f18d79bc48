import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { zstd } from '../codecs/zstd.ts'
import { encodeBatch } from './encodeBatch.ts'

// kafkajs as it is, which the patch must equal, byte for byte, wherever kafkajs does not throw.
const require = createRequire(import.meta.url)
const Record = require('kafkajs/src/protocol/recordBatch/record/v0/index.js')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0/index.js')
const { Codecs } = require('kafkajs/src/protocol/message/compression/index.js')

const zstdCodec = 4
Codecs[zstdCodec] = () => ({ compress: async ({ buffer }: { buffer: Buffer }) => zstd.compress(buffer) })
const encode = encodeBatch(async (_, records) => zstd.compress(records))

const bytes = fc.uint8Array({ maxLength: 300 }).map(array => Buffer.from(array))
const text = fc.string({ unit: 'binary', maxLength: 100 }).map(one => one.toWellFormed())
const one = fc.oneof(bytes, text)
const nullable = fc.option(one)
const record = fc.record({
  key: nullable,
  value: nullable,
  timestampDelta: fc.integer({ min: 0, max: 2 ** 30 }),
  headers: fc.dictionary(text, fc.oneof(one, fc.array(one, { minLength: 1, maxLength: 3 })), { maxKeys: 6 }),
})
const batch = fc.record({
  compression: fc.constantFrom(0, zstdCodec),
  transactional: fc.boolean(),
  firstTimestamp: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  records: fc.array(record, { minLength: 1, maxLength: 20 }),
})

test('a batch is encoded as kafkajs encodes it', async () => {
  await fc.assert(
    fc.asyncProperty(batch, async ({ records, ...of }) => {
      const placed = records.map((record, offsetDelta) => ({ ...record, offsetDelta }))
      const fields = { ...of, maxTimestamp: of.firstTimestamp + 7, lastOffsetDelta: records.length - 1 }
      const theirs = await RecordBatch({ ...fields, records: placed.map(Record) })
      const ours = await encode({ ...fields, records: placed })
      expect(ours.buffer.equals(theirs.buffer)).toBe(true)
      expect(ours.size()).toBe(theirs.size())
    }),
    { numRuns: 500 },
  )
})
