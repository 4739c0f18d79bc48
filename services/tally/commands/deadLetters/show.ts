import type { Command } from 'commander'
import { openCommand, withKafka } from '../../open.ts'
import { printMany } from '../../output.ts'

export function addDeadLettersShow(deadLetters: Command): void {
  deadLetters
    .command('show')
    .description('print all of a dead letter as JSON, with its headers and its value')
    .argument('<ID>', 'its id, as `tally dead-letters list` prints it')
    .option('--json', 'print JSON (always on)')
    .action(async (text: string) => {
      const { deadLetterIdOf } = await import('./values.ts')
      const id = deadLetterIdOf(text)
      const { settings, logger } = await openCommand()
      const { findDeadLetter, printWholeDeadLetter } = await import('@tally/dead-letters')
      const entry = await withKafka(settings, logger, kafka =>
        findDeadLetter(kafka, settings.topicPrefix, id),
      )
      if (entry === undefined)
        throw new Error(`there is no dead letter ${id}: see \`tally dead-letters list\``)
      await printMany(JSON.stringify(printWholeDeadLetter(entry), null, 2).split('\n'))
    })
}
