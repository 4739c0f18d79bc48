import { type Assignment, logEnds } from '@tally/kafka'
import { beginAtLogStart, ensureOffsets } from '@tally/offsets'
import type { LogsDeps } from './deps.ts'
import type { LogState } from './state.ts'

/** Starts assigned partitions that were never read at the start of their logs. */
export async function beginPartitions(
  { kafka, db, metrics, logger }: LogsDeps,
  state: LogState,
  assignment: Assignment,
): Promise<void> {
  for (const [topic, partitions] of assignment) await ensureOffsets(db, topic, partitions)
  const untouched = (await state.readMine()).filter(
    ({ nextOffset, topicId }) => nextOffset === 0 && topicId === null,
  )
  const logs = await logEnds(kafka, untouched)
  const starts = untouched.flatMap(({ topic, partition }) => {
    const log = logs.get(topic)?.get(partition)
    return log === undefined ? [] : [{ topic, partition, start: log.start }]
  })
  for (const { topic, partition, start } of await beginAtLogStart(db, starts)) {
    metrics.lateStarts.inc({ topic, partition: String(partition) })
    logger.warn(
      { topic, partition, start },
      'the log begins above offset 0; reading from its start: what was deleted before is not counted',
    )
  }
}
