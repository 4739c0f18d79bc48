import { inSnapshot } from '@tally/read-models'
import type { Answer } from '../answer.ts'
import { RequestProblem, unavailable } from '../http/problems.ts'
import type { Readers } from '../readers.ts'
import { composeText } from '../views/composed.ts'
import type { Question } from '../views/question.ts'
import { type AskedEvent, askEvent } from './eventAnswer.ts'

type Snapshot = Parameters<Parameters<typeof inSnapshot>[1]>[0]

/** Whether the event lists what an order question names; nothing else of the event is needed. */
export const ifListed =
  (isListed: (event: Parameters<Question>[0]) => boolean): Question =>
  event =>
    isListed(event) ? { key: 'listed', needs: [], compose: () => composeText('') } : undefined

/**
 * Reads orders of an event from Postgres, the only place that has them: without it the answer is a 503
 * (decisions.md, When a part is down). `asOf` is what the event's other answers say: read before the orders, so
 * everything up to it is among them.
 */
export async function answerFromOrders(
  readers: Readers,
  asked: AskedEvent,
  question: Question,
  read: (snapshot: Snapshot) => Promise<Pick<Answer, 'data' | 'etag' | 'pagination'>>,
): Promise<Answer> {
  const { event, asOfMs } = await askEvent(readers, asked, question)
  return { ...(await inSnapshotOrUnavailable(readers, read)), eventId: event.eventId, asOfMs }
}

async function inSnapshotOrUnavailable<Result>(
  { db, onFailure }: Readers,
  read: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  try {
    return await inSnapshot(db, read)
  } catch (error) {
    if (error instanceof RequestProblem) throw error
    onFailure(error)
    throw unavailable()
  }
}
