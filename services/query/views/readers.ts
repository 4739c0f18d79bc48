import type { Postgres } from '@tally/platform'
import type { Gate } from '../postgres/gate.ts'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { EventList } from './eventList.ts'
import type { EventViews } from './eventViews.ts'

/** The sources that endpoints read from. */
export type Readers = {
  views: EventViews
  list: EventList
  db: Postgres
  shared: SharedReads
  /** Large pages of orders are composed one at a time, for the organizations in turn. */
  largePages: Gate
  /** The topics of an event's records. */
  topics: string[]
  onFailure: (error: unknown) => void
}
