import type { TopicPartition } from '@tally/kafka'
import { isUnreachable, type Logger, oncePerMinute, reasonOf } from '@tally/platform'

type RejectedAt = TopicPartition & { offset: number }
type Failed = TopicPartition & { reason: string }

/** Logs what can come many times a second, rejected records and failed batches: one line a minute for each reason. */
export function createTroubles(logger: Logger) {
  const rejections = oncePerMinute<RejectedAt>((reason, count, last) =>
    logger.warn(
      { reason, count, last },
      `${count === 1 ? 'a record was' : `${count} records were`} rejected (${reason}): see \`tally dead-letters list --reason ${reason}\``,
    ),
  )
  const failures = oncePerMinute<Failed>((_, count, { reason, ...last }) =>
    logger.warn(
      { reason, count, last },
      `${count === 1 ? 'a batch' : `${count} batches`} failed (${reason}); trying again`,
    ),
  )
  return {
    rejected: (reason: string, count: number, last: RejectedAt): void => rejections.note(reason, count, last),
    /** A transient error; parts that do not answer are reported as outages. */
    failed({ topic, partition }: TopicPartition, error: unknown): void {
      if (isUnreachable(error)) return
      const { code } = error as { code?: unknown }
      const reason = reasonOf(error)
      failures.note(String(code ?? reason), 1, { topic, partition, reason })
    },
  }
}
export type Troubles = ReturnType<typeof createTroubles>
