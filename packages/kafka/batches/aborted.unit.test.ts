import { expect, test } from 'vitest'
import { batchBytes, fetchOf, readAll } from './testing.ts'

const controlBit = 32
const abort = 0
const commit = 1
const ids: Record<string, number> = { a: 1, b: 2 }

/** A batch of one record; of producer `-`, outside any transaction. */
const record = (offset: number, producer: string) =>
  batchBytes({ firstOffset: offset, records: [{ value: 'v' }], producerId: ids[producer] ?? -1 })

async function marker(offset: number, producer: string, type: number): Promise<Buffer> {
  const { crc32c } = await import('@node-rs/crc32')
  const bytes = await batchBytes({
    firstOffset: offset,
    records: [{ key: Buffer.from([0, 0, 0, type]), value: 'v' }],
    producerId: ids[producer] ?? -1,
  })
  bytes.writeInt16BE(controlBit, 21)
  bytes.writeUInt32BE(crc32c(bytes.subarray(21)), 17)
  return bytes
}

/** The offsets read from an offset on, if the broker names these aborted transactions, such as `a0` of a from 0 on. */
async function read(log: Promise<Buffer>[], from: number, aborted: string[]) {
  const named = aborted.map(one => ({ producerId: String(ids[one.charAt(0)]), firstOffset: one.slice(1) }))
  const { records, parts, error } = await readAll(fetchOf(Buffer.concat(await Promise.all(log)), from, named))
  expect(error).toBeUndefined()
  return { offsets: records.map(({ offset }) => offset), next: parts.at(-1)?.next }
}

test('records of an aborted transaction are left out, those around it and of the one before it stay', async () => {
  const log = [
    record(0, 'a'),
    record(1, '-'),
    record(2, 'b'),
    marker(3, 'a', abort),
    marker(4, 'b', commit),
    record(5, 'a'),
    record(6, 'b'),
    marker(7, 'b', abort),
  ]
  expect(await read(log, 0, ['a0', 'b6'])).toEqual({ offsets: [1, 2, 5], next: 8 })
})

test('reading that begins inside two aborted transactions gives nothing of them, in whatever order they are named', async () => {
  const log = [record(2, 'b'), record(3, 'a'), marker(4, 'a', abort), marker(5, 'b', abort), record(6, 'b')]
  expect(await read(log, 2, ['b6', 'b1', 'a0'])).toEqual({ offsets: [], next: 7 })
})
