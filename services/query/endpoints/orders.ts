import { readShard, type StoredEvent } from '@tally/figures'
import { readAsOf } from '@tally/offsets'
import { inSnapshot, type Snapshot } from '@tally/platform'
import { type Answer, composeText } from '../http/answer.ts'
import { failureOf, RequestProblem } from '../http/problems.ts'
import type { Question } from '../views/question.ts'
import { askEvent, type EventRequest, type Readers } from './handler.ts'

/** The question whether the event lists what a request for orders names; no document is needed. */
export const ifListed =
  (isListed: (event: StoredEvent) => boolean): Question =>
  event =>
    isListed(event) ? { key: 'listed', needs: [], compose: () => composeText('') } : undefined

type Orders = Pick<Answer, 'text' | 'chunk' | 'etag' | 'pagination'>

/**
 * Reads orders of an event from Postgres, the only place that has them: without it the answer is a 503 (docs/api.md,
 * When a part is down). `asOf` is that of the event's other answers, read before the orders, and never later than that
 * of the snapshot. So it holds for these orders even after Postgres lost commits, and the next answer from Redis is not
 * earlier. Equal questions (`key`) share one read.
 */
export async function answerFromOrders(
  readers: Readers,
  asked: EventRequest,
  { key, question, read }: { key: string; question: Question; read: (snapshot: Snapshot) => Promise<Orders> },
): Promise<Answer> {
  const { eventId } = asked.params
  const event = await askEvent(readers, asked, question)
  const { db, shared, topics, onFailure } = readers
  try {
    const answer = await shared.share(asked.key.organizationId, `${eventId} ${key}`, undefined, () =>
      inSnapshot(db, async snapshot => {
        const shard = await readShard(snapshot, eventId)
        const asOfMs = shard === undefined ? null : await readAsOf(snapshot, topics, shard)
        return { ...(await read(snapshot)), eventId, asOfMs }
      }),
    )
    return { ...answer, asOfMs: earlier(answer.asOfMs, event.asOfMs) }
  } catch (error) {
    if (error instanceof RequestProblem) throw error
    onFailure(error)
    throw failureOf(error)
  }
}

const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? one : Math.min(one, other)
