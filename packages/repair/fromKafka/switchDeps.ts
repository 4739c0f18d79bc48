import type { Postgres } from '@tally/storage'
import type { RepairDeps } from '../deps.ts'
import type { Follower } from './follow.ts'

/** `topics`: those of events, orders and refunds. */
export type SwitchDeps = RepairDeps & {
  locked: Postgres
  live: string
  follower: Follower
  topics: string[]
  eventsTopic: string
  ordersTopic: string
  refundsTopic: string
  /** Whether orders and refunds that the topics do not hold may be removed. */
  mayRemove: boolean
  /** Called once if some will be removed, with how many of which partitions. */
  onRemoving: (what: string) => void
}
