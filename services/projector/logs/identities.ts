import { setTimeout as sleep } from 'node:timers/promises'
import {
  type KafkaConnection,
  type LogIdentity,
  logIdentities,
  partitionKey,
  type TopicPartition,
} from '@tally/kafka'

/**
 * The least time between the beginnings of two requests, most of which a batch spends in its own statements anyway. With
 * 500 records/s, one by one, on two saturated cores, the median latency was 345 ms without any such request, and 424 to
 * 511 ms with one after the other.
 */
const leastMs = 5

/**
 * Asks Kafka which log a partition is, always with a request that begins after the call. Only one request runs at a
 * time; calls made meanwhile share the next one.
 */
export function openIdentities(kafka: KafkaConnection) {
  const waiting = new Map<string, TopicPartition>()
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Map<string, LogIdentity>> | undefined

  const send = (): Promise<Map<string, LogIdentity>> => {
    const partitions = [...waiting.values()]
    waiting.clear()
    next = undefined
    const answer = logIdentities(kafka, partitions)
    running = Promise.allSettled([answer, sleep(leastMs)])
    return answer
  }

  return async (of: TopicPartition): Promise<LogIdentity | undefined> => {
    waiting.set(partitionKey(of), { topic: of.topic, partition: of.partition })
    next ??= running.then(send)
    return (await next).get(partitionKey(of))
  }
}
