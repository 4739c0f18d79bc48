import type { Postgres, Settings } from '@tally/platform'
import type { Command } from 'commander'
import { UsageError } from '../failure.ts'
import { openCommand, withKafka, withRevisions } from '../open.ts'
import { counted, print, remark } from '../output.ts'

export function addRebuild(program: Command): void {
  program
    .command('rebuild')
    .description('rebuild the counters and the documents in Redis while the service runs')
    .option('--from-kafka', 'read the topics again from the start, and rebuild orders and refunds too')
    .option('--yes', 'with --from-kafka: remove what the topics no longer hold')
    .action(async ({ fromKafka, yes = false }: { fromKafka?: true; yes?: boolean }) => {
      if (yes && !fromKafka) throw new UsageError('rebuild takes --yes only with --from-kafka')
      const { settings, logger } = await openCommand()
      if (fromKafka) await withKafka(settings, logger, kafka => rebuildFromTopics(settings, kafka, yes))
      else await rebuildFromOrders(settings)
    })
}

const say = (sentence: string) => remark(`rebuild: ${sentence}`)

/** Leaves an audit entry at both ends of a rebuild. */
async function noted<Result extends { events: number }>(
  db: Postgres,
  of: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const { commandActor, noteBothEnds } = await import('@tally/access')
  return noteBothEnds(db, commandActor(), {
    work: 'rebuild',
    of,
    run,
    outcome: ({ events }) => `${of}: ${counted(events, 'event')}`,
  })
}

async function rebuildFromOrders(settings: Settings): Promise<void> {
  const [{ rebuild, withRedis }, { topicNames }, { createCount }] = await Promise.all([
    import('@tally/repair'),
    import('@tally/kafka'),
    import('../progress.ts'),
  ])
  const progress = createCount(process.stderr, { name: 'rebuild', unit: 'events' })
  const { events, repaired } = await withRevisions(settings.databaseUrl, db =>
    noted(db, 'from the stored orders', () =>
      withRedis(settings, redis =>
        rebuild(
          { db, ...redis },
          {
            topics: topicNames(settings.topicPrefix),
            onContinued: done =>
              say(
                `continuing an interrupted run: ${counted(done, 'event')} already done, and only compared again`,
              ),
            onProgress: progress.show,
          },
        ),
      ),
    ),
  ).finally(progress.close)
  print(`${counted(events, 'event')} rebuilt, ${repaired} of them wrong in Postgres; all agree now`)
}

async function rebuildFromTopics(
  settings: Settings,
  kafka: Parameters<Parameters<typeof withKafka>[2]>[0],
  mayRemove: boolean,
): Promise<void> {
  const [{ rebuildFromKafka, withRedis }, { createCount }] = await Promise.all([
    import('@tally/repair'),
    import('../progress.ts'),
  ])
  const progress = createCount(process.stderr, { name: 'rebuild', unit: 'records' })
  const { events, records } = await withRevisions(settings.databaseUrl, db =>
    noted(db, 'from Kafka', () =>
      withRedis(settings, redis =>
        rebuildFromKafka(
          { db, kafka, ...redis },
          {
            settings,
            mayRemove,
            onRemoving: what => say(`removing ${what}, which the topics no longer hold`),
            onContinued: done =>
              say(`continuing an interrupted run: ${counted(done, 'record')} already read`),
            onProgress: progress.show,
          },
        ),
      ),
    ),
  ).finally(progress.close)
  print(`${counted(events, 'event')} rebuilt from ${counted(records, 'record')}`)
}
