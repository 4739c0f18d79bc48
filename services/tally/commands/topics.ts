import type { KafkaConnection } from '@tally/kafka'
import type { Command } from 'commander'
import { openCommand, withKafka } from '../open.ts'
import { print } from '../output.ts'
import { wholeNumber } from '../values.ts'

export function addTopics(program: Command): void {
  const topics = program.command('topics').description("Tally's topics in Kafka")
  topics
    .command('create')
    .description('create the topics that are missing')
    .option(
      '--partitions <N>',
      'partitions of events, orders and refunds (default: as many as exist, else 6)',
    )
    .option('--replication-factor <N>', 'copies of each topic', '1')
    .action(async (options: { partitions?: string; replicationFactor: string }) => {
      const wanted =
        options.partitions === undefined
          ? undefined
          : wholeNumber('--partitions', options.partitions, 1, 10_000)
      const replicationFactor = wholeNumber('--replication-factor', options.replicationFactor, 1, 100)
      const { createTopics } = await import('@tally/kafka')
      const { settings, logger } = await openCommand()
      const { topicPrefix } = settings
      const { created, existing } = await withKafka(settings, logger, async kafka => {
        const partitions = wanted ?? (await partitionsThere(kafka, topicPrefix)) ?? 6
        return createTopics(kafka, { topicPrefix, partitions, replicationFactor })
      })
      for (const topic of created) print(`created ${topic}`)
      for (const topic of existing) print(`${topic} exists already`)
    })
}

/** The partitions that exist, so that a second `tally topics create` without options succeeds. */
async function partitionsThere(kafka: KafkaConnection, topicPrefix: string): Promise<number | undefined> {
  const { describeTopics, topicNames } = await import('@tally/kafka')
  const { events, orders, refunds } = topicNames(topicPrefix)
  const [count] = (await describeTopics(kafka, [events, orders, refunds])).values()
  return count
}
