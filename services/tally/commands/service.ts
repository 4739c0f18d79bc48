import type { ServiceDeps, Settings } from '@tally/platform'
import type { Command } from 'commander'
import { sentenceOf, wasWrongUsage } from '../failure.ts'

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
      const { logOutput, createLogger, readSettings, runService, sslModeWarning } = await import(
        '@tally/platform'
      )
      try {
        const settings = readSettings(process.env)
        const logger = createLogger(name, settings.logLevel)
        logOutput(logger)
        const warning = sslModeWarning(settings.databaseUrl)
        if (warning !== undefined) logger.warn(`${warning.found}: ${warning.mend}`)
        await runService(logger, async (lifecycle, crash) => {
          const start = await load()
          await start(settings, { lifecycle, logger, crash })
        })
      } catch (error) {
        // Whatever the level: it is the last line, and says what to do.
        const hasStack = /^(debug|trace)$/.test(process.env.LOG_LEVEL ?? '')
        createLogger(name, 'fatal').fatal(hasStack ? { err: error } : {}, sentenceOf(error, process.env))
        process.exit(wasWrongUsage(error) ? 2 : 1)
      }
    })
}
