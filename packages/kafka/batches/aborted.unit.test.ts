import { expect, test } from 'vitest'
import { batchBytes, fetchOf, readAll } from './testing.ts'

const controlBit = 32
const transactionalBit = 16
const abort = 0
const commit = 1
const ids: Record<string, number> = { a: 1, b: 2 }

/** A batch of one record; of producer `-`, outside any transaction. */
const record = (offset: number, producer: string, key = 'k') =>
  batchBytes({
    firstOffset: offset,
    records: [{ key: Buffer.from(key), value: 'v' }],
    producerId: ids[producer] ?? -1,
    transactional: producer !== '-',
  })

async function marker(offset: number, producer: string, type: number): Promise<Buffer> {
  const { crc32c } = await import('@node-rs/crc32')
  const bytes = await batchBytes({
    firstOffset: offset,
    records: [{ key: Buffer.from([0, 0, 0, type]), value: 'v' }],
    producerId: ids[producer] ?? -1,
  })
  bytes.writeInt16BE(controlBit | transactionalBit, 21)
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17)
  return bytes
}

/** The offsets read from an offset on, if the broker names these aborted transactions. */
async function read(
  log: Promise<Buffer>[],
  from: number,
  aborted: [producer: string, firstOffset: number][],
) {
  const named = aborted.map(([producer, firstOffset]) => ({
    producerId: String(ids[producer]),
    firstOffset: String(firstOffset),
  }))
  const { records, parts, error } = await readAll(fetchOf(Buffer.concat(await Promise.all(log)), from, named))
  expect(error).toBeUndefined()
  return { offsets: records.map(({ offset }) => offset), next: parts.at(-1)?.next }
}

test('records of an aborted transaction are left out, those around it stay', async () => {
  const log = [
    record(0, 'a'),
    record(1, '-'),
    record(2, 'b'),
    marker(3, 'a', abort),
    marker(4, 'b', commit),
    record(5, 'a'),
  ]
  expect(await read(log, 0, [['a', 0]])).toEqual({ offsets: [1, 2, 5], next: 6 })
})

test('the order in which aborted transactions are listed does not matter', async () => {
  const log = [record(1, 'a'), marker(2, 'a', abort), record(3, 'b'), marker(4, 'b', abort)]
  const aborted: [string, number][] = [
    ['b', 3],
    ['a', 1],
  ]
  expect(await read(log, 1, aborted)).toEqual({ offsets: [], next: 5 })
})

test('a record whose key is four zero bytes ends no transaction', async () => {
  const log = [record(0, 'a', '\0\0\0\0'), record(1, 'a'), marker(2, 'a', abort)]
  expect(await read(log, 0, [['a', 0]])).toEqual({ offsets: [], next: 3 })
})
