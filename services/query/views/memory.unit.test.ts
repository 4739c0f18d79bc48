import type { EventId } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import type { Read } from '@tally/views'
import { expect, onTestFinished, test } from 'vitest'
import { createMemory } from './memory.ts'

const eventId = '7c1e0000-0000-4000-8000-000000000001' as EventId
const event = { menuItems: [], days: [], areas: [] } as unknown as StoredEvent

const read = (revision: number, asOfMs: number, epochs: Read['epochs']): Read => ({
  head: { eventId, revision, event },
  documents: new Map(),
  asOfMs,
  epochs,
})
const inEpoch = (epoch: number) => ({ documents: epoch, asOf: epoch })

let nowMs = 10_000
const openMemory = () => createMemory(asOfMs => asOfMs > nowMs)

/** The watermark for a read of Redis after Postgres has answered 2,000 for revision 7 in epoch 5 and then went down. */
function watermarkOf(later: Read): number | null {
  const memory = openMemory()
  memory.reset(read(7, 2_000, inEpoch(5)), undefined)
  return memory.watermark(later)
}

test('documents as new as before keep the watermark that was answered with them', () => {
  expect(watermarkOf(read(7, 1_500, inEpoch(5)))).toBe(2_000)
  expect(watermarkOf(read(8, 1_500, inEpoch(5)))).toBe(2_000)
  expect(watermarkOf(read(7, 1_500, { documents: 4, asOf: 5 }))).toBe(2_000)
  expect(watermarkOf(read(8, 2_500, inEpoch(5)))).toBe(2_500)
})

test('older documents, and those of a later epoch, have only their own watermark', () => {
  expect(watermarkOf(read(6, 1_500, inEpoch(5)))).toBe(1_500)
  expect(watermarkOf(read(9, 1_500, inEpoch(6)))).toBe(1_500)
})

test('once the database’s clock has gone back behind the last watermark, that of the read counts', () => {
  onTestFinished(() => {
    nowMs = 10_000
  })
  nowMs = 1_600
  expect(watermarkOf(read(7, 1_500, inEpoch(5)))).toBe(1_500)
})

test('of an event whose record is no longer kept, the revision and the watermark are', () => {
  const memory = openMemory()
  const many = { menuItems: new Array(60_000).fill({}), days: [], areas: [] } as unknown as StoredEvent
  const other = '7c1e0000-0000-4000-8000-000000000002' as EventId
  memory.keep({ ...read(7, 2_000, inEpoch(5)), head: { eventId, revision: 7, event: many } })
  memory.keep({ ...read(3, 2_000, inEpoch(5)), head: { eventId: other, revision: 3, event: many } })
  expect(memory.head(eventId)).toBeUndefined()
  expect(memory.head(other)?.revision).toBe(3)
  expect(memory.known(eventId)?.head.revision).toBe(7)
  expect(memory.isAhead(read(6, 2_500, inEpoch(5)))).toBe(true)
})

test('a read of Postgres does not lower a watermark that was confirmed while it ran', () => {
  const memory = openMemory()
  memory.keep(read(7, 2_000, inEpoch(5)))
  const before = memory.now(eventId)
  const known = memory.known(eventId)
  if (known === undefined) throw new Error('the read was not kept')
  expect(memory.confirm({ ...read(7, 2_500, inEpoch(5)), head: known.head }, known)).toBe(true)
  memory.reset(read(7, 2_200, inEpoch(5)), before)
  expect(known.asOfMs).toBe(2_500)
  memory.reset(read(7, 2_200, inEpoch(5)), memory.now(eventId))
  expect(known.asOfMs).toBe(2_200)
})

test('a read that is behind an earlier answer changes nothing', () => {
  const memory = openMemory()
  memory.keep(read(7, 2_000, inEpoch(5)))
  const known = memory.known(eventId)
  if (known === undefined) throw new Error('the read was not kept')
  const behind = { ...read(6, 2_500, inEpoch(6)), head: { ...known.head, revision: 6 } }
  expect(memory.confirm(behind, known)).toBe(false)
  expect(known).toMatchObject({ head: { revision: 7 }, asOfMs: 2_000 })
})

test('an event that is evicted is marked as no longer kept', () => {
  const memory = openMemory()
  memory.keep(read(7, 2_000, inEpoch(5)))
  const known = memory.known(eventId)
  for (let other = 0; other < 20_000; other++)
    memory.keep({
      ...read(1, 2_000, inEpoch(5)),
      head: { eventId: `${other}` as EventId, revision: 1, event },
    })
  expect(known?.isKept).toBe(false)
  expect(memory.known(eventId)).toBeUndefined()
})

test('an event that is confirmed all the time is not evicted', () => {
  const memory = openMemory()
  memory.keep(read(7, 2_000, inEpoch(5)))
  const known = memory.known(eventId)
  if (known === undefined) throw new Error('the read was not kept')
  for (let other = 0; other < 20_500; other++) {
    memory.keep({
      ...read(1, 2_000, inEpoch(5)),
      head: { eventId: `${other}` as EventId, revision: 1, event },
    })
    expect(memory.confirm({ ...read(7, 2_001 + other, inEpoch(5)), head: known.head }, known)).toBe(true)
  }
  expect(known.isKept).toBe(true)
})
