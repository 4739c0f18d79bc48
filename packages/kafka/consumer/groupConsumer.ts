import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { retryPolicy } from '../client/client.ts'
import type { ConsumeOptions } from '../types.ts'
import type { Tuning } from './memory.ts'
import { assignerWith, type ConsumerHooks } from './shardAssigner.ts'

/** The next offset to read of a partition whose log does not hold it. */
export type OutOfLog = { topic: string; partition: number; wanted: number }

/** A kafkajs consumer that is not connected yet. */
export function newGroupConsumer(
  kafka: Kafka,
  options: ConsumeOptions,
  tuning: Tuning,
  hooks: ConsumerHooks,
): Consumer {
  return kafka.consumer({
    groupId: options.groupId,
    partitionAssigners: [assignerWith(hooks)],
    sessionTimeout: tuning.sessionTimeoutMs,
    heartbeatInterval: tuning.heartbeatIntervalMs,
    rebalanceTimeout: tuning.rebalanceTimeoutMs,
    metadataMaxAge: tuning.metadataMaxAgeMs,
    maxBytesPerPartition: tuning.maxBytesPerPartition,
    maxBytes: tuning.maxBytes,
    maxWaitTimeInMs: tuning.maxWaitTimeMs,
    minBytes: 1,
    allowAutoTopicCreation: false,
    // consumer.ts restarts it, with its own back-off and without a limit.
    retry: { ...retryPolicy, restartOnFailure: async () => false },
  })
}

/** Connects the consumer and joins the group, unless it is closed meanwhile; `eachBatch` then gets every batch. */
export async function runGroupConsumer(
  consumer: Consumer,
  { topics }: ConsumeOptions,
  { concurrency }: Tuning,
  eachBatch: (payload: EachBatchPayload) => Promise<void>,
  closing: AbortSignal,
): Promise<void> {
  await consumer.connect()
  await consumer.subscribe({ topics, fromBeginning: true })
  if (closing.aborted) return consumer.disconnect()
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: concurrency,
    eachBatch,
  })
}
