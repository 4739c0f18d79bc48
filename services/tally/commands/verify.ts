import type { Command } from 'commander'
import { openCommand, withSchema } from '../open.ts'
import { counted, print, remark } from '../output.ts'

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description(
      'recount everything and compare with the counters and with Redis; one JSON object per difference',
    )
    .action(async () => {
      const { settings } = await openCommand()
      const [{ verify, withRedis }, { createCount }] = await Promise.all([
        import('@tally/repair'),
        import('../progress.ts'),
      ])
      const progress = createCount(process.stderr, { name: 'verify', unit: 'events' })
      const { events, differences, timedOut } = await withSchema(settings.databaseUrl, db =>
        withRedis(settings, redis =>
          verify(
            { db, ...redis },
            {
              onDifference: difference => print(JSON.stringify(difference)),
              onProgress: progress.show,
            },
          ),
        ),
      ).finally(progress.close)
      remark(`verify: ${counted(events, 'event')} compared, ${counted(differences, 'difference')}`)
      if (differences > 0) process.exitCode = 1
      if (timedOut > 0) {
        throw new Error(
          `${timedOut} events or organizations changed too fast to compare their documents in Redis: run it again when fewer records arrive`,
        )
      }
    })
}
