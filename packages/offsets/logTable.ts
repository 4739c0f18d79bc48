import type { ColumnType } from 'kysely'

declare module '@tally/platform/database' {
  interface Database {
    partition_logs: PartitionLogTable
  }
}

/** Why a partition is stalled (docs/reliability.md, Kafka). */
export type StallState = 'gap' | 'recreated' | 'undecodable'

/** Which log a partition is read from, and whether it is stalled. */
export type PartitionLogTable = {
  topic: string
  partition: number
  /** Kafka's id of the topic that the stored offset belongs to; null: not known yet. */
  topic_id: string | null
  state: StallState | null
  since: ColumnType<number | null, string | null, string | null>
  /** What happened and which command helps, as in the log. */
  message: string | null
}
