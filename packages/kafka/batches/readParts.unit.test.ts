import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { UndecodableBatchError } from '../errors.ts'
import { maxValueBytes } from '../types.ts'
import { batchBytes, fetchOf, readAll, type SentBatch } from './testing.ts'

const gzip = 1
const snappy = 2
const lz4 = 3
const zstd = 4
const codecs = [gzip, snappy, lz4, zstd]
const values = (...texts: string[]) => texts.map(value => ({ value }))
const logOf = async (...batches: SentBatch[]) => Buffer.concat(await Promise.all(batches.map(batchBytes)))
const offsetsOf = (records: { offset: number }[]) => records.map(({ offset }) => offset)

test.each([0, ...codecs])('records packed by codec %i come in one part, without a gap', async compression => {
  const log = await logOf(
    { firstOffset: 10, records: values('a', 'b'), compression },
    { firstOffset: 20, records: values('c'), compression },
  )
  const { records, parts, error } = await readAll(fetchOf(log, 11))
  expect(error).toBeUndefined()
  expect(records.map(({ offset, value }) => [offset, String(value)])).toEqual([
    [11, 'b'],
    [20, 'c'],
  ])
  expect(parts).toEqual([{ from: 11, next: 21 }])
})

test.each([0, ...codecs])(
  'a value of more than 8 MiB in codec %i is replaced by its size and hash, its neighbours are whole',
  async compression => {
    const large = Buffer.alloc(maxValueBytes + 1, ' ')
    const largest = Buffer.alloc(maxValueBytes, '{}')
    const huge = Buffer.alloc(3 * maxValueBytes, 'ab')
    const records = [large, largest, huge].flatMap(value => [
      { value: 'good', key: Buffer.from('k') },
      { value },
    ])
    const headers = { till: Buffer.from('7') }
    const log = await logOf({
      firstOffset: 0,
      records: records.map(record => ({ ...record, headers })),
      compression,
    })
    const read = await readAll(fetchOf(log))
    expect(read.error).toBeUndefined()
    expect(offsetsOf(read.records)).toEqual([0, 1, 2, 3, 4, 5])
    const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(read.records.map(({ value, leftOut }) => leftOut ?? value?.length)).toEqual([
      4,
      { bytes: large.length, sha256: sha256(large) },
      4,
      largest.length,
      4,
      { bytes: huge.length, sha256: sha256(huge) },
    ])
    expect(read.records.map(({ headers }) => ({ ...headers }))).toEqual(records.map(() => headers))
    expect(read.records[3]?.value?.equals(largest)).toBe(true)
  },
)

test.each(codecs)(
  'a batch that codec %i unpacks to far more comes in consecutive parts',
  async compression => {
    const value = Buffer.alloc(3 * 1024 * 1024, 'x')
    const log = await logOf({
      firstOffset: 5,
      records: Array.from({ length: 20 }, () => ({ value })),
      compression,
    })
    const { records, parts } = await readAll(fetchOf(log, 7))
    expect(offsetsOf(records)).toEqual(Array.from({ length: 18 }, (_, i) => i + 7))
    expect(new Set(parts.map(({ next }) => next)).size).toBeGreaterThan(4)
    expect(parts.map(({ from }) => from)).toEqual([7, ...parts.map(({ next }) => next)].slice(0, -1))
    expect(parts.at(-1)?.next).toBe(25)
  },
)

test('a record whose key or headers are too large comes without its value, too', async () => {
  const records = [
    { key: Buffer.alloc(maxValueBytes * 2, 'k'), value: 'a' },
    { value: 'b', headers: { large: Buffer.alloc(maxValueBytes * 2) } },
    { value: 'c' },
  ]
  const read = await readAll(fetchOf(await logOf({ firstOffset: 0, records, compression: zstd })))
  const seen = read.records.map(({ key, value, leftOut }) => [key, value?.toString(), leftOut])
  expect(seen).toMatchObject([
    [null, undefined, { bytes: 1 }],
    [null, undefined, { bytes: 1 }],
    [null, 'c', undefined],
  ])
})

test.each([
  ['a damaged byte', (bad: Buffer) => bad.writeUInt8(bad.readUInt8(70) ^ 1, 70), 'checksum'],
  ['a damaged frame', (bad: Buffer) => bad.writeInt8(9, 16), 'format'],
])('a batch with %s ends the read after the records before it', async (_, damage, why) => {
  const bad = await batchBytes({ firstOffset: 3, records: values('d', 'e') })
  damage(bad)
  const log = Buffer.concat([
    await batchBytes({ firstOffset: 0, records: values('a', 'b', 'c') }),
    bad,
    await batchBytes({ firstOffset: 9, records: values('f') }),
  ])
  const { records, parts, error } = await readAll(fetchOf(log))
  expect(offsetsOf(records)).toEqual([0, 1, 2])
  expect(parts).toEqual([{ from: 0, next: 3 }])
  expect(error).toBeInstanceOf(UndecodableBatchError)
  expect(error).toMatchObject({ topic: 't', partition: 0, from: 3 })
  expect((error as Error).message).toContain(why)
})

test('the error of a batch that cannot be unpacked, or has an unknown codec, names the offset after it', async () => {
  const unknown = await batchBytes({
    firstOffset: 3,
    records: values('d', 'e'),
    compression: 6,
    pack: b => b,
  })
  expect((await readAll(fetchOf(unknown, 3))).error).toMatchObject({ from: 3, to: 5 })
  for (const compression of codecs) {
    const pack = () => Buffer.from('these bytes are not packed by any codec at all')
    const garbage = await batchBytes({ firstOffset: 3, records: values('d', 'e'), compression, pack })
    const { error, records } = await readAll(fetchOf(garbage, 4))
    expect(error).toMatchObject({ name: 'UndecodableBatchError', from: 4, to: 5 })
    expect(records).toEqual([])
  }
})

test('a batch that holds less than it says cannot be decoded, and a record that ends too late is not read', async () => {
  for (const compression of codecs) {
    const cut = await batchBytes({ firstOffset: 0, records: values('a', 'b'), compression })
    const longer = await batchBytes({ firstOffset: 0, records: values('a', 'b', 'c'), compression })
    const lying = await batchBytes({
      firstOffset: 0,
      records: values('a', 'b', 'c'),
      compression,
      pack: () => cut.subarray(61),
    })
    expect((await readAll(fetchOf(longer))).records).toHaveLength(3)
    expect((await readAll(fetchOf(lying))).error).toBeInstanceOf(UndecodableBatchError)
  }
  const pack = (bytes: Buffer) => Buffer.concat([Buffer.from([bytes.readUInt8() - 2]), bytes.subarray(1)])
  const shorter = await readAll(fetchOf(await batchBytes({ firstOffset: 0, records: values('a'), pack })))
  expect([shorter.records, String(shorter.error)]).toEqual([[], expect.stringContaining('behind its record')])
})

test('a fetch with a truncated last batch is read up to it; a fetch without a complete batch is damaged', async () => {
  const first = await batchBytes({ firstOffset: 0, records: values('a') })
  const second = await batchBytes({ firstOffset: 1, records: values('b') })
  const { records, error } = await readAll(fetchOf(Buffer.concat([first, second.subarray(0, 40)])))
  expect([offsetsOf(records), error]).toEqual([[0], undefined])
  expect((await readAll(fetchOf(first.subarray(0, 40)))).error).toBeInstanceOf(UndecodableBatchError)
})
