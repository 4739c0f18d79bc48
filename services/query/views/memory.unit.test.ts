import type { EventId, OrganizationId } from '@tally/contract'
import type { StoredEvent } from '@tally/figures'
import type { Read, Seen } from '@tally/views'
import { expect, test } from 'vitest'
import { createMemory, type Remembered } from './memory.ts'

const eventId = '7c1e0000-0000-4000-8000-000000000001' as EventId
const event = { shard: 1, menuItems: [], days: [], areas: [] } as unknown as StoredEvent

const read = (revision: number, asOfMs: number, epochs: Read['epochs'], id = eventId): Read => ({
  head: { eventId: id, revision, event },
  documents: new Map(),
  asOfMs,
  epochs,
})
const asked = { eventId, organizationId: 'o' as OrganizationId }
/** What a batch has read of the event. */
const seen = (revision: number, asOfMs: number, epoch = 5): Seen => ({
  shard: 1,
  hash: { asOfMs, epoch, revisions: new Map() },
  version: { revision, epoch },
})
const inEpoch = (epoch: number) => ({ documents: epoch, asOf: epoch })

const openMemory = (nowMs = 10_000) =>
  createMemory({
    breaker: { refusesWrites: false },
    watermarks: { isStale: (_, asOfMs) => asOfMs === 3e4, isFuture: asOfMs => asOfMs > nowMs },
  })

/** A memory after an answer, and what it knows of its event. */
function answered() {
  const memory = openMemory()
  memory.keep(read(7, 2_000, inEpoch(5)))
  const about: typeof asked & { known?: Remembered | undefined } = { ...asked }
  const confirm = (seen: Seen) => memory.confirm(about, seen)
  expect(confirm(seen(7, 2_000))).toEqual({ revision: 7, asOfMs: 2_000 })
  return { memory, confirm, known: about.known as Remembered }
}

/** The watermark for a read of Redis after Postgres has answered 2,000 for revision 7 in epoch 5 and then went down. */
function watermarkOf(later: Read, nowMs?: number): number | null {
  const memory = openMemory(nowMs)
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
  expect(watermarkOf(read(7, 1_500, inEpoch(5)), 1_600)).toBe(1_500)
})

test('a confirmation takes over the epoch of the same watermark', () => {
  const { confirm, known } = answered()
  expect(confirm(seen(7, 2_000, 6))).toEqual({ revision: 7, asOfMs: 2_000 })
  expect(known.epoch).toBe(6)
  expect(confirm(seen(7, 1_500, 6))).toEqual({ revision: 7, asOfMs: 2_000 })
})

test('of an event whose record is no longer kept, the revision and the watermark are', () => {
  const memory = openMemory()
  const many = { ...event, menuItems: new Array(60_000).fill({}) } as StoredEvent
  const other = '7c1e0000-0000-4000-8000-000000000002' as EventId
  memory.keep({ ...read(7, 2_000, inEpoch(5)), head: { eventId, revision: 7, event: many } })
  memory.keep({ ...read(3, 2_000, inEpoch(5)), head: { eventId: other, revision: 3, event: many } })
  expect(memory.head(eventId)).toBeUndefined()
  expect(memory.head(other)?.revision).toBe(3)
  expect(memory.confirm({ ...asked }, seen(7, 2_500))).toEqual({ revision: 7, asOfMs: 2_500 })
  expect(memory.isAheadOf(read(6, 2_500, inEpoch(5)))).toBe(true)
})

test('a read of Postgres does not lower a watermark that was confirmed while it ran', () => {
  const { memory, confirm, known } = answered()
  const before = memory.now(eventId)
  expect(confirm(seen(7, 2_500))).toEqual({ revision: 7, asOfMs: 2_500 })
  memory.reset(read(7, 2_200, inEpoch(5)), before)
  expect(known.asOfMs).toBe(2_500)
  memory.reset(read(7, 2_200, inEpoch(5)), memory.now(eventId))
  expect(known.asOfMs).toBe(2_200)
})

test('a read that is stale or behind an earlier answer, or of an event unknown to Postgres, changes nothing', () => {
  const { memory, confirm, known } = answered()
  for (const old of [seen(6, 2_500, 6), seen(7, 1_500, 6), seen(7, 3e4)]) expect(confirm(old)).toBeUndefined()
  memory.noteUnknown(asked, performance.now())
  expect(confirm(seen(7, 2_500))).toBeUndefined()
  expect(known).toMatchObject({ head: { revision: 7 }, asOfMs: 2_000 })
})

test('an event that is evicted is marked as no longer kept', () => {
  const { memory, confirm, known } = answered()
  for (let other = 0; other < 20_000; other++) memory.keep(read(1, 2_000, inEpoch(5), `${other}` as EventId))
  expect(known.isKept).toBe(false)
  expect(confirm(seen(7, 2_000))).toBeUndefined()
})

test('an event that is confirmed all the time is not evicted', () => {
  const { memory, confirm, known } = answered()
  for (let other = 0; other < 20_500; other++) {
    memory.keep(read(1, 2_000, inEpoch(5), `${other}` as EventId))
    expect(confirm(seen(7, 2_001 + other))).toBeDefined()
  }
  expect(known.isKept).toBe(true)
})
