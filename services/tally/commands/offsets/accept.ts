import type { Command } from 'commander'
import { wholeNumber } from '../../values.ts'
import { moveOnYes } from './moveOnYes.ts'

export function addOffsetsAccept(offsets: Command): void {
  offsets
    .command('accept')
    .description('continue past deleted records, or with a topic that was created again or truncated')
    .argument('<TOPIC>', 'the topic, as the error names it')
    .argument('<PARTITION>', 'the number of the partition')
    .option('--yes', 'do it; without this option, only print what is given up')
    .action(async (topic: string, text: string, { yes }: { yes?: true }) => {
      const of = { topic, partition: wholeNumber('PARTITION', text, 0) }
      await moveOnYes(yes === true, async deps => (await import('@tally/repair')).planAccept(deps, of))
    })
}
