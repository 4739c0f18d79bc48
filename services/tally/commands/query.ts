import type { Command } from 'commander'

export function addQuery(program: Command): void {
  program
    .command('query')
    .description('run one query process, which answers the v1 API, in the foreground')
    .action(async () => {
      const [{ startQuery }, { openLogger, readSettings, runService }] = await Promise.all([
        import('@tally/query'),
        import('@tally/runtime'),
      ])
      const settings = readSettings(process.env)
      const logger = openLogger('query', settings.logLevel)
      await runService(logger, (lifecycle, crash) => startQuery(settings, { lifecycle, logger, crash }))
    })
}
