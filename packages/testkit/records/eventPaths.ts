import { type Endpoint, endpoints } from '@tally/contract'

const event = '/api/v1/events/:eventId'
const ofEvent = Object.values<Endpoint>(endpoints)
  .filter(({ url }) => url.startsWith(event) && !url.slice(event.length).includes(':'))
  .map(({ url, query }) => ({ path: url.slice(event.length), taken: Object.keys(query.shape) }))

/** The paths of an event's endpoints that need no other id, below `/api/v1/events/{eventId}`. */
export const eventPaths = ofEvent.map(({ path }) => path)

/** Those that take all of these parameters. */
export const eventPathsTaking = (...parameters: string[]) =>
  ofEvent.filter(({ taken }) => parameters.every(name => taken.includes(name))).map(({ path }) => path)
