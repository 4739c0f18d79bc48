import type { KafkaConnection } from '../client/connection.ts'
import { topicConfigs } from './topicConfigs.ts'

const names = ['cleanup.policy', 'retention.ms', 'retention.bytes']

/** What keeps every record of a topic, for messages. */
export const keepsAll = 'cleanup.policy=delete, retention.ms=-1 and retention.bytes=-1'

/**
 * The settings that let Kafka remove records of each topic, as `name=value`; none if it keeps them all
 * (docs/records.md, Topics). Throws kafkajs's error if Kafka does not answer or forbids to read them.
 */
export async function readRetention(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, string[]>> {
  const configs = await topicConfigs(connection, topics, names)
  return new Map([...configs].map(([topic, config]) => [topic, retentionOf(config)]))
}

/** The settings of one topic that let Kafka remove records. */
export function retentionOf(config: Map<string, string>): string[] {
  const policy = config.get('cleanup.policy') ?? 'delete'
  const found = policy.includes('compact') ? [`cleanup.policy=${policy}`] : []
  if (!policy.includes('delete')) return found
  for (const name of ['retention.ms', 'retention.bytes']) {
    const value = config.get(name)
    if (value !== undefined && value !== '-1') found.push(`${name}=${value}`)
  }
  return found
}
