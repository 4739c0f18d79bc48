import type { Command } from 'commander'
import { openCommand, withKafka } from '../../open.ts'

export function addShow(letters: Command): void {
  letters
    .command('show')
    .description('print all of a dead letter as JSON, with its headers and its value')
    .argument('<ID>', 'its id, as `tally dead-letters list` prints it')
    .option('--json', 'print JSON, which is so anyway')
    .action(async (text: string) => {
      const { letterIdOf } = await import('./values.ts')
      const id = letterIdOf(text)
      const { settings, logger } = await openCommand()
      const { findLetter, printWhole } = await import('@tally/dead-letters')
      const letter = await withKafka(settings, logger, kafka => findLetter(kafka, settings.topicPrefix, id))
      if (letter === undefined)
        throw new Error(`there is no dead letter ${id}: see \`tally dead-letters list\``)
      const { write } = await import('./write.ts')
      await write([JSON.stringify(printWhole(letter), null, 2)])
    })
}
