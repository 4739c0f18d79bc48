import type { ApiKey } from '@tally/access'
import type { EndpointName, endpoints } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import type { Seen } from '@tally/views'
import type { z } from 'zod'
import type { Answer } from '../http/answer.ts'
import { RequestProblem } from '../http/problems.ts'
import type { Allowance } from '../limits/limitDecision.ts'
import type { Gate } from '../postgres/gate.ts'
import type { SharedReads } from '../postgres/sharedReads.ts'
import type { EventList } from '../views/eventList.ts'
import type { EventViews } from '../views/eventViews.ts'
import type { Answered, Question } from '../views/question.ts'

/**
 * The input of a read: the key that asks, the parameters as the contract parses them, the rate limit's allowance, and
 * what the request's batch has read of the event already.
 */
type EndpointRequest<Name extends EndpointName> = {
  key: ApiKey
  params: z.output<(typeof endpoints)[Name]['params']>
  query: z.output<(typeof endpoints)[Name]['query']>
  allowance: Allowance
  seen?: Seen | null | undefined
}

/**
 * Answers one endpoint. `early` reads cost so little that they begin before the rate limit has answered, in the same
 * round trip to Redis; whatever costs more waits for its allowance.
 */
export type Handler<Name extends EndpointName = EndpointName> = {
  early: boolean
  read(readers: Readers, asked: EndpointRequest<Name>): Promise<Answer>
}

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

/** One 404 for every reason, which does not say which (docs/api.md, Problem body). */
export const notFound = () => new RequestProblem('not-found')

/** The part of a request that identifies the event. */
export type EventRequest = Omit<EndpointRequest<'getEvent'>, 'query'>

/** Answers a question about the event of a request; a 404 if the key has no access or something does not exist. */
export async function askEvent(
  { views }: Readers,
  { key, params: { eventId }, allowance, seen }: EventRequest,
  question: Question,
): Promise<Answered> {
  if (key.eventId !== null && key.eventId !== eventId) throw notFound()
  const answered = await views.ask({ eventId, organizationId: key.organizationId }, question, allowance, seen)
  if (answered === undefined) throw notFound()
  return answered
}

/** As `askEvent`, with a complete answer. */
export async function answerEvent(
  readers: Readers,
  asked: EventRequest,
  question: Question,
): Promise<Answer> {
  const { event, revision, plan, composed, asOfMs } = await askEvent(readers, asked, question)
  const { eventId } = asked.params
  return { ...composed, eventId, asOfMs, dayId: plan.dayId, holdsFor: { revision, shard: event.shard } }
}
