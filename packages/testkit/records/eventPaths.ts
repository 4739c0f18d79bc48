import { endpoints } from '@tally/contract'

const event = '/api/v1/events/:eventId'

/** The paths of an event's endpoints that need no other id, below `/api/v1/events/{eventId}`. */
export const eventPaths = Object.values(endpoints)
  .map(({ url }) => url)
  .filter(url => url.startsWith(event) && !url.slice(event.length).includes(':'))
  .map(url => url.slice(event.length))
