import type { Command } from 'commander'
import { openCommand, withPostgres } from '../open.ts'
import { print } from '../output.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the Postgres schema to this version; safe to run twice at once')
    .action(async () => {
      const { migrate } = await import('@tally/read-models')
      const { settings } = await openCommand()
      const names = await withPostgres(settings.databaseUrl, migrate)
      for (const name of names) print(`ran ${name}`)
      print(names.length === 0 ? 'the schema already has this version' : 'the schema has this version now')
    })
}
