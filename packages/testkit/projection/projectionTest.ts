import { test as base } from 'vitest'
import { newEventId } from '../records/records.ts'
import { openBatches } from './batches.ts'
import { openHarness } from './harness.ts'

/**
 * `test` with fixtures for rules of projection: `harness`, one for all tests of a file; `eventId`, a new event for each
 * test; and `at`, which projects batches about that event, from offset 0 of each topic on.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern, and this fixture needs no other
  .extend('harness', { scope: 'file' }, async ({}, { onCleanup }) => {
    const harness = await openHarness()
    onCleanup(() => harness.close())
    return harness
  })
  .extend('eventId', () => newEventId())
  .extend('at', { auto: true }, ({ harness, eventId }) => openBatches(harness, eventId))
