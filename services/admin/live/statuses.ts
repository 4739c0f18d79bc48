import type { OrderStatus } from '@tally/contract'
import { readStatuses } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import DataLoader from 'dataloader'
import type { DayRef } from './day.ts'

/** Days that change at about the same time share one query. */
const collectMs = 10

/** Reads a day's orders by status, which only Postgres has. */
export type StatusReader = (ref: DayRef) => Promise<Record<OrderStatus, number>>

export function createStatusReader(db: Postgres): StatusReader {
  const loader = new DataLoader((refs: readonly DayRef[]) => readStatuses(db, refs), {
    cache: false,
    batchScheduleFn: read => void setTimeout(read, collectMs),
  })
  return ref => loader.load(ref)
}
