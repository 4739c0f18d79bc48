import type { Command } from 'commander'
import { openCommand, withPostgres } from '../open.ts'
import { print } from '../output.ts'

/** While a statement waits for a lock of a table, every process that needs the table waits behind it. */
const lockTimeoutMs = 2_000

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the Postgres schema to this version; safe to run twice at once')
    .option('--contract', 'also remove what only earlier versions use: once all processes have this version')
    .action(async ({ contract = false }: { contract?: boolean }) => {
      const { leftContracts, migrate } = await import('@tally/schema')
      const { settings } = await openCommand()
      const work = async (db: Parameters<typeof migrate>[0]) => ({
        ran: await migrate(db, { contracts: contract, onRan: name => print(`ran ${name}`) }),
        left: await leftContracts(db),
      })
      const { ran, left } = await withPostgres(settings.databaseUrl, work, { lockTimeoutMs })
      print(ran.length === 0 ? 'the schema already has this version' : 'the schema has this version now')
      for (const name of left)
        print(`${name} is left: run \`tally migrate --contract\` once all processes have this version`)
    })
}
