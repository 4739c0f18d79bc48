import type { Logger } from '@tally/platform'

/** How to reach Kafka (docs/reference.md, Settings). */
export type KafkaSettings = {
  brokers: string[]
  ssl: boolean
  sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string }
}

/** One header's value; Kafka allows null, and any bytes. */
export type HeaderValue = Buffer | string | null

/** Headers by key; a key that a record carries several times has its values as a list, in their order. */
export type RecordHeaders = Record<string, HeaderValue | HeaderValue[]>

/** The largest value that is passed on (docs/reliability.md, Records). */
export const maxValueBytes = 8 * 1024 * 1024

/** A record as it was read. `offset` and `timestampMs` (since 1970, UTC; -1 if it has none) are safe integers. */
export type KafkaRecord = {
  offset: number
  timestampMs: number
  key: Buffer | null
  value: Buffer | null
  headers: Readonly<RecordHeaders>
  /** Set if the value was left out because it, the key or the headers exceed 8 MiB: the value's size and hash. */
  leftOut?: { bytes: number; sha256: string }
}

/** A record to be sent; without `partition` the key decides (murmur2, as Kafka's Java client does). */
export type OutgoingRecord = {
  topic: string
  key: Buffer | string | null
  value: Buffer | string | null
  headers?: RecordHeaders
  partition?: number
  /** Timestamp to use if Kafka refuses that of this host's clock: one that Kafka accepted before. */
  acceptedMs?: number
}

/**
 * The result of one read of one partition. Every record of [from, next) is in `records` or does not exist for a reader
 * (compacted away, a control record, of an aborted transaction); so `records` may be empty.
 */
export type RecordBatch = {
  topic: string
  partition: number
  /**
   * The id of the topic that the records are from, as a fact: the broker refuses a fetch with another id. None if the
   * partition was fetched by name (`ConsumeOptions.identityOf`).
   */
  topicId?: string
  from: number
  next: number
  /** What a reader can read ends here: records of open transactions, and those behind them, do not count. */
  lastStableOffset: number
  records: KafkaRecord[]
}

/** Partitions by topic. */
export type Assignment = Map<string, number[]>

/** Offsets to read on from, by topic and partition; `held`, or none: not fetched until `Consumer.resume`. */
export type StartOffsets = Map<string, Map<number, number | 'held'>>

export type BatchControl = {
  /** True when the partition is being taken away, or the consumer stops: finish soon. */
  isStale(): boolean
}

/** How a consumer reads; consumer.ts has the defaults. */
export type Tuning = {
  maxBytesPerPartition: number
  maxBytes: number
  maxWaitTimeMs: number
  sessionTimeoutMs: number
  heartbeatIntervalMs: number
  rebalanceTimeoutMs: number
  metadataMaxAgeMs: number
  /** Number of partitions processed at the same time. */
  concurrency: number
}

export type ConsumeOptions = Partial<Tuning> & {
  groupId: string
  topics: string[]
  /**
   * Works on a batch and returns the offset to read on from: normally `batch.next`; any other offset is sought. A throw
   * means "try again": the partition is paused (100 ms up to 5 s) and read again from `batch.from`; the others go on.
   */
  onBatch(batch: RecordBatch, control: BatchControl): Promise<number>
  /**
   * Called after each join with all partitions that are now assigned. Returns where each begins (the offsets in
   * Postgres); nothing is fetched before. If it throws, it is called again with the same back-off.
   */
  onAssigned(assignment: Assignment): StartOffsets | Promise<StartOffsets>
  /** The log of an assigned partition does not hold the next offset. That partition is held; the others go on. */
  onOutOfLog(of: { topic: string; partition: number; wanted: number }): void
  /**
   * The log to fetch a partition from, asked before each fetch: only records of this log are passed on. A partition
   * without an answer is not fetched yet. A consumer without this callback fetches by name.
   */
  identityOf?(of: TopicPartition): LogIdentity | undefined
  /**
   * Called if a broker refuses to read from the log that `identityOf` returned: the topic was deleted, or created
   * again, or the partition has a new leader. The partition is held; the others go on.
   */
  onRefused?(of: TopicPartition): void
  /** Called with an error that can never heal: authorization, unsupported version, topic gone. */
  onCrash(error: Error): void
}

export type ConsumerState = {
  /** In the group, and not in the middle of a rebalance. */
  joined: boolean
  /** It knows where its partitions begin: it reads them, unless one is held. */
  begun: boolean
  /** Milliseconds since the broker last answered a fetch (or a heartbeat, if no partition is assigned). */
  lastFetchMs: number
  /** The last error of Kafka or of a batch that has not succeeded since. */
  lastError: Error | undefined
  /** The error of each partition whose last batch failed. */
  batchErrors: { topic: string; partition: number; error: Error }[]
  assignment: Assignment
}

export type Consumer = {
  state(): ConsumerState
  /** Continues at an offset immediately; ignored if the partition is not assigned. */
  seek(topic: string, partition: number, offset: number): void
  /** Stops fetching a partition until `resume` or the next join. */
  hold(topic: string, partition: number): void
  resume(topic: string, partition: number): void
  /** Finishes the batches in progress (at most 8 s), commits, leaves the group. */
  stop(): Promise<void>
}

export type Producer = {
  /**
   * Sends records in order, many per request. Resolves when all in-sync replicas have all of them; rejects with
   * KafkaSendError; the records before the failed request are in Kafka. Records that the broker refuses for their
   * size are sent one by one; for one that is refused alone, `smaller` returns what to send instead, or undefined.
   */
  send(
    records: OutgoingRecord[],
    smaller?: (record: OutgoingRecord) => OutgoingRecord | undefined,
  ): Promise<void>
  close(): Promise<void>
}

/** First offset that is still there and the offset after the last one, by partition. */
export type PartitionOffsets = Map<number, { start: number; end: number }>

/** The logs of a topic's partitions: the first offset that exists, the one after the last record, and the identity. */
export type PartitionLogs = Map<number, { start: number; end: number } & LogIdentity>

/**
 * Which log a partition's name stands for: a topic that was deleted and created again has another `topicId`, and
 * `leaderEpoch` grows with each election of a leader, whose log may be shorter.
 */
export type LogIdentity = { topicId: string; leaderEpoch: number }

export type ConnectOptions = { clientId: string; logger: Logger }

export type TopicPartition = { topic: string; partition: number }

/** The key of a partition in maps. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}:${partition}`

/** All partitions of topics with these counts of partitions. */
export const partitionsOf = (counts: Iterable<[topic: string, count: number]>): TopicPartition[] =>
  [...counts].flatMap(([topic, count]) =>
    Array.from({ length: count }, (_, partition) => ({ topic, partition })),
  )
