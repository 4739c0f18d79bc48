import type { Backlog } from './backlog.ts'
import type { Publish } from './publication.ts'
import type { Schedule } from './schedule.ts'
import type { Sequence } from './sequence.ts'

export type RunDeps = { schedule: Schedule; backlog: Backlog; sequence: Sequence; publish: Publish }

/**
 * Publishes everything that is due, and puts it back if that fails. Callers that ask for a flush before the next one
 * has begun share it. `onPublished` is called with the duration of each flush that had something to publish.
 */
export function openFlush(
  { schedule, backlog, sequence, publish }: RunDeps,
  onPublished: (tookMs: number) => void,
): () => Promise<void> {
  let next: Promise<void> | undefined

  const flushOnce = async (): Promise<void> => {
    const taken = schedule.take()
    if (taken.isEmpty()) return
    const began = performance.now()
    try {
      const published = await publish(taken, { latest: id => schedule.takeMore(taken, id) })
      backlog.extend(taken.marks.values(), published)
      onPublished(performance.now() - began)
    } catch (error) {
      schedule.putBack(taken)
      throw error
    }
  }

  return () => {
    next ??= sequence.idle().then(() => {
      next = undefined
      return sequence.run(flushOnce)
    })
    return next
  }
}

/** Publishes the backlog piece by piece, with a flush after each piece. Concurrent calls share one run. */
export function openDrain(
  { backlog, sequence, publish }: RunDeps,
  flush: () => Promise<void>,
): (isStopping: () => boolean) => Promise<void> {
  let draining: Promise<void> | undefined

  /** Returns false if no piece is left. */
  const publishPiece = async (): Promise<boolean> => {
    // Not earlier, because the flush before it may extend its mark.
    const piece = backlog.next()
    if (piece === undefined) return false
    piece.done(await publish(piece.pending, { noted: piece.noted }))
    return true
  }

  const drainAll = async (isStopping: () => boolean): Promise<void> => {
    while (!isStopping() && (await sequence.run(publishPiece))) await flush()
  }

  return isStopping => {
    draining ??= drainAll(isStopping).finally(() => {
      draining = undefined
    })
    return draining
  }
}
