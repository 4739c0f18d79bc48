import { type KafkaConnection, topicConfigs } from '@tally/kafka'
import type { Logger } from '@tally/runtime'

/**
 * Warns about each topic whose records Kafka deletes or compacts: a rebuild from Kafka needs all of them, and a record
 * deleted before it is applied is lost (docs/records.md, Topics). Without the right to read topic settings, it logs
 * nothing.
 */
export async function warnOfRetention(
  kafka: KafkaConnection,
  topics: string[],
  logger: Logger,
): Promise<void> {
  try {
    const names = ['cleanup.policy', 'retention.ms', 'retention.bytes']
    for (const [topic, config] of await topicConfigs(kafka, topics, names)) {
      const found = retentionOf(config)
      if (found.length === 0) continue
      logger.warn(
        { topic, ...Object.fromEntries(config) },
        `${topic} loses records (${found.join(', ')}): set cleanup.policy=delete, retention.ms=-1 and retention.bytes=-1`,
      )
    }
  } catch (error) {
    logger.debug({ err: error }, 'the settings of the topics cannot be read')
  }
}

/** The settings that let Kafka remove records. */
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
