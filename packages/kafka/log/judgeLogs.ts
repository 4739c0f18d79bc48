import { fingerprintOf } from '../batches/records.ts'
import type { KafkaConnection } from '../client/connection.ts'
import { type LogIdentity, partitionKey } from '../types.ts'
import { logEnds } from './logEnds.ts'
import { readRecordAt } from './readLog.ts'

/** Where a partition is read next, and what is known about the log that this offset belongs to. */
export type LogPosition = {
  topic: string
  partition: number
  nextOffset: number
  topicId: string | null
  /** Fingerprint of the last record that was applied. */
  fingerprint: Buffer | null
  fingerprintOffset: number | null
}

type Log = { start: number; end: number } & LogIdentity

/**
 * How a log fits a position: it continues there (`ok`), records that were not applied are gone (`gap`), or it is
 * another log than the one that was applied (`recreated`). The message says what happened and which command helps.
 */
export type JudgedLog = { topic: string; partition: number } & Log &
  (
    | { state: 'ok' }
    | { state: 'gap'; missing: number; message: string }
    | { state: 'recreated'; message: string }
  )

/** Concurrent fetches: each may return a batch of 1 MB. */
const concurrentReads = 8

/**
 * Compares stored positions with what Kafka holds. `doubted` names the positions whose last applied record is also read
 * and compared (default: all), because a log that was truncated and has grown again keeps its id. A partition whose
 * leader does not answer, or that does not exist, is left out. Throws kafkajs's error if Kafka does not answer.
 */
export async function judgeLogs(
  connection: KafkaConnection,
  positions: LogPosition[],
  doubted: (position: LogPosition, log: Log) => boolean = () => true,
): Promise<JudgedLog[]> {
  const logs = await logEnds(connection, positions)
  const found = positions.flatMap(position => {
    const log = logs.get(position.topic)?.get(position.partition)
    return log === undefined ? [] : [{ position, log }]
  })
  const reads = found.filter(({ position, log }) => mayCompare(position, log) && doubted(position, log))
  const isOther = new Map<string, boolean>()
  for (let from = 0; from < reads.length; from += concurrentReads) {
    await Promise.all(
      reads.slice(from, from + concurrentReads).map(async ({ position }) => {
        isOther.set(partitionKey(position), await holdsAnother(connection, position))
      }),
    )
  }
  return found.map(({ position, log }) => ({
    topic: position.topic,
    partition: position.partition,
    ...log,
    ...judge(position, log, isOther.get(partitionKey(position)) === true),
  }))
}

function mayCompare({ nextOffset, topicId, fingerprintOffset }: LogPosition, log: Log): boolean {
  if (topicId !== null && topicId !== log.topicId) return false
  return fingerprintOffset !== null && fingerprintOffset >= log.start && nextOffset <= log.end
}

/** Whether the log has another record at the last applied offset. None proves nothing: it may have been compacted. */
async function holdsAnother(connection: KafkaConnection, position: LogPosition): Promise<boolean> {
  const { fingerprint, fingerprintOffset } = position
  if (fingerprint === null || fingerprintOffset === null) return false
  // A batch that cannot be decoded proves nothing either.
  const record = await readRecordAt(connection, position, fingerprintOffset).catch(() => undefined)
  return record !== undefined && !fingerprintOf(record).equals(fingerprint)
}

function judge(
  { topic, partition, nextOffset, topicId, fingerprintOffset }: LogPosition,
  { start, end, topicId: idNow }: Log,
  isOther: boolean,
) {
  const name = `${topic}-${partition}`
  const accept = `\`tally offsets accept ${topic} ${partition}\``
  const goOn = `To go on with what the topic holds now, from offset ${start}, run ${accept}.`
  if (topicId !== null && topicId !== idNow) {
    const message = `${name} stands still: the topic was deleted and created again; ${nextOffset} is the next offset of the deleted one. ${goOn}`
    return { state: 'recreated', message } as const
  }
  if (nextOffset > end) {
    const message = `${name} stands still: its log ends at offset ${end}, before the next offset ${nextOffset}: it was truncated, or the topic was created again. ${goOn}`
    return { state: 'recreated', message } as const
  }
  if (isOther) {
    const message = `${name} stands still: its log holds another record at offset ${fingerprintOffset} than the one that was applied: it was truncated, or the topic was created again. ${goOn}`
    return { state: 'recreated', message } as const
  }
  if (nextOffset < start) {
    const missing = start - nextOffset
    const records = missing === 1 ? '1 record is missing' : `${missing} records are missing`
    const message = `${name} stands still: ${records}: offsets ${nextOffset} to ${start - 1} were deleted before they were applied (retention?). To give them up and go on from offset ${start}, run ${accept}.`
    return { state: 'gap', missing, message } as const
  }
  return { state: 'ok' } as const
}

/** The command that skips a batch that cannot be decoded. */
export function skipHint({ topic, partition, to }: { topic: string; partition: number; to: number }): string {
  return `To go past it, run \`tally offsets skip ${topic} ${partition} --to ${to}\`.`
}
