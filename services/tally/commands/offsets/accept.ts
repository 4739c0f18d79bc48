import type { Command } from 'commander'
import { moveOnYes } from './moveOnYes.ts'
import { partitionOption } from './values.ts'

export function addAccept(offsets: Command): void {
  offsets
    .command('accept')
    .description('continue past deleted records, or with a topic that was created again or truncated')
    .argument('<TOPIC>', 'the topic, as the error names it')
    .argument('<PARTITION>', 'the number of the partition')
    .option('--yes', 'do it; without this option, only print what is given up')
    .action(async (topic: string, text: string, { yes }: { yes?: true }) => {
      const of = { topic, partition: partitionOption(text) }
      await moveOnYes(yes === true, async deps => {
        const { planAccept } = await import('@tally/repair')
        return planAccept(deps, of)
      })
    })
}
