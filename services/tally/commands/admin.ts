import type { Command } from 'commander'

export function addAdmin(program: Command): void {
  program
    .command('admin')
    .description('run the administration area, where keys are made and sales are watched, in the foreground')
    .action(async () => {
      const [{ startAdmin }, { openLogger, readSettings, runService }] = await Promise.all([
        import('@tally/admin'),
        import('@tally/runtime'),
      ])
      const settings = readSettings(process.env)
      const logger = openLogger('admin', settings.logLevel)
      await runService(logger, (lifecycle, crash) => startAdmin(settings, { lifecycle, logger, crash }))
    })
}
