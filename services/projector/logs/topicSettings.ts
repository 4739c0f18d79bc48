import { type KafkaConnection, keepsAll, readRetention } from '@tally/kafka'
import type { Logger } from '@tally/platform'

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
    for (const [topic, found] of await readRetention(kafka, topics)) {
      if (found.length === 0) continue
      logger.warn({ topic, settings: found }, `${topic} loses records (${found.join(', ')}): set ${keepsAll}`)
    }
  } catch (error) {
    logger.debug({ err: error }, 'the settings of the topics cannot be read')
  }
}
