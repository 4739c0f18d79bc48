import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addAdministratorsCreate } from './commands/administrators/create.ts'
import { addAdministratorsList } from './commands/administrators/list.ts'
import { addAdministratorsRemove } from './commands/administrators/remove.ts'
import { addAdministratorsReset } from './commands/administrators/reset.ts'
import { addContract } from './commands/contract.ts'
import { addDeadLettersList } from './commands/deadLetters/list.ts'
import { addDeadLettersReplay } from './commands/deadLetters/replay.ts'
import { addDeadLettersShow } from './commands/deadLetters/show.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEventsList } from './commands/events/list.ts'
import { addEventsRemove } from './commands/events/remove.ts'
import { addFeed } from './commands/feed.ts'
import { addKeysCreate } from './commands/keys/create.ts'
import { addKeysList } from './commands/keys/list.ts'
import { addKeysRevoke } from './commands/keys/revoke.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOffsetsAccept } from './commands/offsets/accept.ts'
import { addOffsetsList } from './commands/offsets/list.ts'
import { addOffsetsSkip } from './commands/offsets/skip.ts'
import { addRebuild } from './commands/rebuild.ts'
import { addRecordsCheck } from './commands/records/check.ts'
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
  addCommands(program)
  addExamples(program)
  return program
}

/** Adds all commands in the order in which a new installation needs them. */
function addCommands(program: Command): void {
  const group = (name: string, description: string, adds: ((group: Command) => void)[]) => {
    const command = program.command(name).description(description)
    for (const add of adds) add(command)
  }
  for (const add of [addMigrate, addTopics, addServices, addFeed]) add(program)
  group('keys', 'keys of the API', [addKeysCreate, addKeysList, addKeysRevoke])
  group('administrators', 'manage who can sign in to the administration area', [
    addAdministratorsCreate,
    addAdministratorsList,
    addAdministratorsReset,
    addAdministratorsRemove,
  ])
  addDoctor(program)
  group('events', 'list organizations and events; remove old events', [addEventsList, addEventsRemove])
  const deadLetters = [addDeadLettersList, addDeadLettersShow, addDeadLettersReplay]
  group('dead-letters', 'list, show and replay rejected records', deadLetters)
  const offsets = 'show how far each partition is applied; skip records that are gone or cannot be read'
  group('offsets', offsets, [addOffsetsList, addOffsetsAccept, addOffsetsSkip])
  for (const add of [addVerify, addRebuild, addContract]) add(program)
  group('records', 'records that a producer sends', [addRecordsCheck])
}
