import type { Command } from 'commander'
import { wholeNumber } from '../../values.ts'
import { moveOnYes } from './moveOnYes.ts'

export function addOffsetsSkip(offsets: Command): void {
  offsets
    .command('skip')
    .description('continue at an offset, past records that cannot be decoded')
    .argument('<TOPIC>', 'the topic, as the error names it')
    .argument('<PARTITION>', 'the number of the partition')
    .requiredOption('--to <OFFSET>', 'the offset to continue at')
    .option('--yes', 'do it; without this option, only print what is given up')
    .action(async (topic: string, text: string, { to, yes }: { to: string; yes?: true }) => {
      const of = { topic, partition: wholeNumber('PARTITION', text, 0) }
      const offset = wholeNumber('--to', to, 0)
      await moveOnYes(yes === true, async deps => (await import('@tally/repair')).planSkip(deps, of, offset))
    })
}
