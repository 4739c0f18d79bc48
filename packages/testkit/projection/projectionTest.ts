import { test as base } from 'vitest'
import { newEventId } from '../records/records.ts'
import { openBatches } from './batches.ts'
import { openHarness } from './harness.ts'

/** `test` with `harness`, one for a file, `eventId`, new for each test, and `at`, which projects batches about it. */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern, and this fixture needs no other
  .extend('harness', { scope: 'file' }, async ({}, { onCleanup }) => {
    const harness = await openHarness()
    onCleanup(() => harness.close())
    return harness
  })
  .extend('eventId', () => newEventId())
  .extend('at', { auto: true }, ({ harness, eventId }) => openBatches(harness, eventId))
