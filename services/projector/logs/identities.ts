import { type KafkaConnection, type LogIdentity, logIdentities } from '@tally/kafka'
import { keyOf, type Partition } from '../partition.ts'

/**
 * Asks Kafka which log a partition is, always with a request that begins after the call. Only one request runs at a
 * time; calls made meanwhile share the next one.
 */
export function openIdentities(kafka: KafkaConnection) {
  const waiting = new Map<string, Partition>()
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Map<string, LogIdentity>> | undefined

  const send = (): Promise<Map<string, LogIdentity>> => {
    const partitions = [...waiting.values()]
    waiting.clear()
    next = undefined
    const answer = logIdentities(kafka, partitions)
    running = answer.catch(() => undefined)
    return answer
  }

  return async (of: Partition): Promise<LogIdentity | undefined> => {
    waiting.set(keyOf(of), { topic: of.topic, partition: of.partition })
    next ??= running.then(send)
    return (await next).get(keyOf(of))
  }
}
