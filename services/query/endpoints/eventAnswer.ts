import type { ApiKey } from '@tally/access'
import type { EventId } from '@tally/contract'
import type { Seen } from '@tally/views'
import type { Answer } from '../http/answer.ts'
import { RequestProblem } from '../http/problems.ts'
import type { Allowance } from '../limits/limitDecision.ts'
import type { Answered } from '../views/answers.ts'
import type { Question } from '../views/question.ts'
import type { Readers } from '../views/readers.ts'

/** One 404 for every reason, which does not say which (docs/api.md, Problem body). */
export const notFound = () => new RequestProblem('not-found')

/** The part of a request that identifies the event. */
export type AskedEvent = {
  key: ApiKey
  params: { eventId: EventId }
  allowance: Allowance
  seen?: Seen | null | undefined
}

/** Answers a question about the event of a request; a 404 if the key has no access or something does not exist. */
export async function askEvent(
  { views }: Readers,
  { key, params: { eventId }, allowance, seen }: AskedEvent,
  question: Question,
): Promise<Answered> {
  if (key.eventId !== null && key.eventId !== eventId) throw notFound()
  const answered = await views.ask({ eventId, organizationId: key.organizationId }, question, allowance, seen)
  if (answered === undefined) throw notFound()
  return answered
}

/** As `askEvent`, with a complete answer. */
export async function answerEvent(readers: Readers, asked: AskedEvent, question: Question): Promise<Answer> {
  const { event, revision, plan, composed, asOfMs } = await askEvent(readers, asked, question)
  const { eventId } = asked.params
  const holdsFor = { revision, shard: event.shard }
  return {
    ...composed,
    eventId,
    asOfMs,
    holdsFor,
    ...(plan.dayId === undefined ? {} : { dayId: plan.dayId }),
  }
}
