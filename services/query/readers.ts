import type { Postgres } from '@tally/read-models'
import type { EventList } from './views/eventList.ts'
import type { EventViews } from './views/eventViews.ts'

/** Where the endpoints read. */
export type Readers = {
  views: EventViews
  list: EventList
  db: Postgres
  onFailure: (error: unknown) => void
}
