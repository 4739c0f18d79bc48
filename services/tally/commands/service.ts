import type { ServiceDeps, Settings } from '@tally/platform'
import type { Command } from 'commander'
import { sentenceOf, wasWrongUsage } from '../failure.ts'

/** Imports a service's start function. */
type Load = () => Promise<(settings: Settings, deps: ServiceDeps) => Promise<void>>

/** Adds the commands that run a service in the foreground until a signal ends it. */
export function addServices(program: Command): void {
  addService(program, 'projector', 'run one projector in the foreground', async () => {
    return (await import('@tally/projector')).startProjector
  })
  const query = 'run one query process, which answers the v1 API, in the foreground'
  addService(program, 'query', query, async () => (await import('@tally/query')).startQuery)
  const admin = 'run the administration area (API keys, live sales) in the foreground'
  addService(program, 'admin', admin, async () => (await import('@tally/admin')).startAdmin)
}

function addService(
  program: Command,
  name: 'projector' | 'query' | 'admin',
  description: string,
  load: Load,
): void {
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
