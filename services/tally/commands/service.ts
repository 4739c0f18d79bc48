import type { ServiceDeps, Settings } from '@tally/runtime'
import type { Command } from 'commander'

type Service = {
  name: 'projector' | 'query' | 'admin'
  description: string
  /** Imports the service's start function. */
  load: () => Promise<(settings: Settings, deps: ServiceDeps) => Promise<void>>
}

/** Adds a command that runs a service in the foreground until a signal ends it. */
export function addService(program: Command, { name, description, load }: Service): void {
  program
    .command(name)
    .description(description)
    .action(async () => {
      const [start, { openLogger, readSettings, runService, sslModeWarning }] = await Promise.all([
        load(),
        import('@tally/runtime'),
      ])
      const settings = readSettings(process.env)
      const logger = openLogger(name, settings.logLevel)
      const warning = sslModeWarning(settings.databaseUrl)
      if (warning !== undefined) logger.warn(`${warning.found}: ${warning.mend}`)
      await runService(logger, (lifecycle, crash) => start(settings, { lifecycle, logger, crash }))
    })
}
