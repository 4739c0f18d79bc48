import type { listOffsets } from '@tally/repair'
import type { Command } from 'commander'
import { openCommand, withKafka, withSchema } from '../../open.ts'
import { print, remark } from '../../output.ts'

export function addOffsetsList(offsets: Command): void {
  offsets
    .command('list', { isDefault: true })
    .description('list the partitions: next offset, start and end of the log, state')
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { json?: true }) => {
      const { settings, logger } = await openCommand()
      const { topicPrefix } = settings
      const { listed, holding } = await withSchema(settings.databaseUrl, db =>
        withKafka(settings, logger, async kafka => {
          const [{ listOffsets }, { heldBack }] = await Promise.all([
            import('@tally/repair'),
            import('@tally/kafka'),
          ])
          const listed = await listOffsets({ kafka, db, topicPrefix })
          const behind = listed.filter(({ state }) => state === 'behind')
          return { listed, holding: await heldBack(kafka, behind) }
        }),
      )
      if (json !== true) print(columns('TOPIC', 'PARTITION', ['APPLIED', 'LOG START', 'LOG END'], 'STATE'))
      for (const one of listed) print(json === true ? JSON.stringify(one) : lineOf(one))
      for (const { found, command } of holding)
        remark(`tally: ${found}. End that producer; if it is gone, give up its transaction: ${command}`)
    })
}

type Listed = Awaited<ReturnType<typeof listOffsets>>[number]

/** The topic and the state are on the left of their columns, the numbers between them on the right. */
const columns = (topic: string, partition: string, offsets: string[], state: string): string =>
  [topic.padEnd(24), partition.padStart(9), ...offsets.map(offset => offset.padStart(12)), state].join('  ')

function lineOf({ topic, partition, applied, logStart, logEnd, state }: Listed): string {
  const offsets = [applied, logStart, logEnd].map(offset => String(offset ?? '-'))
  return columns(topic, String(partition), offsets, state)
}
