import type { Command } from 'commander'

export function addProjector(program: Command): void {
  program
    .command('projector')
    .description('run one projector worker in the foreground')
    .action(async () => {
      const [{ startProjector }, { openLogger, readSettings, runService }] = await Promise.all([
        import('@tally/projector'),
        import('@tally/runtime'),
      ])
      const settings = readSettings(process.env)
      const logger = openLogger('projector', settings.logLevel)
      await runService(logger, (lifecycle, crash) => startProjector(settings, { lifecycle, logger, crash }))
    })
}
