import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addAdministrators } from './commands/administrators/index.ts'
import { addContract } from './commands/contract.ts'
import { addDeadLetters } from './commands/deadLetters/index.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEvents } from './commands/events/index.ts'
import { addFeed } from './commands/feed.ts'
import { addKeys } from './commands/keys/index.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOffsets } from './commands/offsets/index.ts'
import { addRebuild } from './commands/rebuild.ts'
import { addRecords } from './commands/records/index.ts'
import { addServices } from './commands/service.ts'
import { addTopics } from './commands/topics.ts'
import { addVerify } from './commands/verify.ts'
import { addExamples, markRequired } from './help.ts'
import { remark } from './output.ts'

/** The program `tally` (docs/reference.md, Commands): one file per command, whose imports wait until it runs. */
export function createProgram(): Command {
  const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
  const program = new Command('tally')
    .description('Live sales figures of food festivals: from orders in Kafka to the answers of the v1 API.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .configureOutput({
      writeOut: text => void process.stdout.write(text),
      writeErr: text => void process.stderr.write(text),
      outputError: text =>
        remark(
          ...text
            .trimEnd()
            .replace(/^error: /, 'tally: ')
            .split('\n'),
        ),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage. Settings come from the environment (docs/reference.md, Settings), such as\nKAFKA_BROKERS, DATABASE_URL, REDIS_URL.',
    )
    .configureHelp(markRequired)
    .exitOverride()
  // In the order in which a new installation needs them.
  const services = [addMigrate, addTopics, addServices, addFeed]
  const access = [addKeys, addAdministrators]
  const repairs = [addDoctor, addEvents, addDeadLetters, addOffsets, addVerify, addRebuild]
  const interfaces = [addContract, addRecords]
  for (const add of [...services, ...access, ...repairs, ...interfaces]) add(program)
  addExamples(program)
  return program
}
