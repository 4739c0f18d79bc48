import {
  type Assignment,
  type Consumer,
  type JudgedLog,
  type LogIdentity,
  partitionKey,
  type TopicPartition,
} from '@tally/kafka'
import { noteTopicIds, readLogs, type StoredLog } from '@tally/offsets'
import type { Postgres } from '@tally/platform'

/** What a projector knows about the logs of its partitions: which are assigned, which were checked, which are held. */
export function createLogState(db: Postgres, topics: string[]) {
  /** The identity of the log that was compared with the stored offset. */
  const checked = new Map<string, LogIdentity>()
  /** Partitions that are not read until a check succeeds. */
  const held = new Set<string>()
  let assigned: TopicPartition[] = []
  let consumer: Consumer | undefined

  const isMine = (of: TopicPartition): boolean =>
    assigned.some(mine => partitionKey(mine) === partitionKey(of))
  const readMine = async (): Promise<StoredLog[]> => (await readLogs(db, topics)).filter(isMine)

  return {
    assign(assignment: Assignment): TopicPartition[] {
      assigned = [...assignment].flatMap(([topic, partitions]) =>
        partitions.map(partition => ({ topic, partition })),
      )
      return assigned
    },
    isMine,

    /** The stored positions of the assigned partitions. */
    readMine,
    readOne: async (of: TopicPartition): Promise<StoredLog | undefined> =>
      (await readMine()).find(one => partitionKey(one) === partitionKey(of)),

    checkedOf: (of: TopicPartition): LogIdentity | undefined => checked.get(partitionKey(of)),

    /** Takes a log as the one that the stored offset belongs to. */
    async accept(log: JudgedLog, { topicId: storedId }: StoredLog): Promise<void> {
      const { topic, partition, topicId, leaderEpoch } = log
      if (storedId === null) await noteTopicIds(db, [{ topic, partition, topicId }])
      checked.set(partitionKey(log), { topicId, leaderEpoch })
    },

    isHeld: (of: TopicPartition): boolean => held.has(partitionKey(of)),
    /** Notes that the session holds the partition, or is about to. */
    noteHeld: (of: TopicPartition): void => void held.add(partitionKey(of)),
    hold(of: TopicPartition): void {
      held.add(partitionKey(of))
      consumer?.hold(of.topic, of.partition)
    },
    /** Returns whether it was held; the session still holds it. */
    release: (of: TopicPartition): boolean => held.delete(partitionKey(of)),

    attach(to: Consumer): void {
      consumer = to
      for (const of of assigned.filter(of => held.has(partitionKey(of)))) to.hold(of.topic, of.partition)
    },
    consumer: (): Consumer | undefined => consumer,
  }
}
export type LogState = ReturnType<typeof createLogState>
