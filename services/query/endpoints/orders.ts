import { inSnapshot, readAsOf, readHead, type Snapshot } from '@tally/read-models'
import type { Answer } from '../answer.ts'
import { RequestProblem, unavailable } from '../http/problems.ts'
import type { Readers } from '../readers.ts'
import { composeText } from '../views/composed.ts'
import type { Question } from '../views/question.ts'
import { type AskedEvent, askEvent } from './eventAnswer.ts'

/** Whether the event lists what an order question names; nothing else of the event is needed. */
export const ifListed =
  (isListed: (event: Parameters<Question>[0]) => boolean): Question =>
  event =>
    isListed(event) ? { key: 'listed', needs: [], compose: () => composeText('') } : undefined

type Orders = Pick<Answer, 'data' | 'etag' | 'pagination'>

/**
 * Reads orders of an event from Postgres, the only place that has them: without it the answer is a 503 (decisions.md,
 * When a part is down). `asOf` comes from the same snapshot, so that it is true for these orders even after Postgres
 * lost commits. Equal questions (`key`) share one read.
 */
export async function answerFromOrders(
  readers: Readers,
  asked: AskedEvent,
  { key, question, read }: { key: string; question: Question; read: (snapshot: Snapshot) => Promise<Orders> },
): Promise<Answer> {
  const { eventId } = asked.params
  await askEvent(readers, asked, question)
  const { db, shared, topics, views, onFailure } = readers
  try {
    return await shared.share(asked.key.organizationId, `${eventId} ${key}`, undefined, async () => {
      const note = views.expectSaid(eventId)
      const { said, answer } = await inSnapshot(db, async snapshot => {
        const head = await readHead(snapshot, eventId)
        const asOfMs = head === undefined ? null : await readAsOf(snapshot, topics, head.shard)
        return { said: { ...head, asOfMs }, answer: { ...(await read(snapshot)), eventId, asOfMs } }
      })
      const { revision, epoch, asOfMs } = said
      if (revision !== undefined) note({ revision, epoch: epoch ?? 0, asOfMs })
      return answer
    })
  } catch (error) {
    if (error instanceof RequestProblem) throw error
    onFailure(error)
    throw unavailable()
  }
}
