import type { ColumnType } from 'kysely'

/** Why a partition stands still (docs/reliability.md, Kafka). */
export type StallState = 'gap' | 'recreated' | 'undecodable'

/** Which log a partition is read from, and whether it stands still. */
export type PartitionLogTable = {
  topic: string
  partition: number
  /** Kafka's id of the topic that the stored offset belongs to; null: not known yet. */
  topic_id: string | null
  state: StallState | null
  since: ColumnType<number | null, string | null, string | null>
  /** What happened and which command helps, as it was logged. */
  message: string | null
}
