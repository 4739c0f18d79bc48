import { noEventId } from '@tally/contract'
import { compose } from '../http/answer.ts'
import type { Handler } from './handler.ts'

/** All events of the organization; with a key bound to one event, only that (docs/api.md, Endpoints). */
export const listEvents: Handler<'listEvents'> = {
  early: true,
  async read({ list }, { key, allowance }) {
    const events = await list.read(key.organizationId, allowance)
    const visible = key.eventId === null ? events : events.filter(({ id }) => id === key.eventId)
    return { ...compose(visible), eventId: noEventId }
  },
}
