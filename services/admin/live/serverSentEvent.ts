import type { FastifyRequest } from 'fastify'

/** One server-sent event. `json` has to be on one line, as JSON.stringify and the projector write it. */
export const serverSentEvent = (event: string, json: string): string => `event: ${event}\ndata: ${json}\n\n`

/**
 * The last event of a stream whose session, link or event has ended: the page opens itself again to say so. Also the
 * answer to a stream that may not begin, because an EventSource does not tell a refusal of Tally's from the 404 of a
 * proxy without a server behind it, which is an outage. Screens of 0.2.0 know it by this name.
 */
export const overEvent = serverSentEvent('signed-out', '{}')

/** Whether an EventSource asks. */
export const isStream = ({ headers }: FastifyRequest): boolean => headers.accept === 'text/event-stream'
