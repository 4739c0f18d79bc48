import type { Settings } from '@tally/platform'
import type { RepairDeps } from '@tally/repair'
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

/** Runs a rebuild with its connections and a progress bar, and leaves an audit entry at both ends. */
async function rebuildWith<Result extends { events: number }>(
  settings: Settings,
  { of, unit }: { of: string; unit: string },
  run: (deps: RepairDeps, onProgress: (done: number, all: number) => void) => Promise<Result>,
): Promise<Result> {
  const [{ commandActor, noteBothEnds }, { withRedis }, { createCount }] = await Promise.all([
    import('@tally/access'),
    import('@tally/repair'),
    import('../progress.ts'),
  ])
  const progress = createCount(process.stderr, { name: 'rebuild', unit })
  return withRevisions(settings.databaseUrl, db =>
    noteBothEnds(db, commandActor(), {
      work: 'rebuild',
      of,
      run: () => withRedis(settings, redis => run({ db, ...redis }, progress.show)),
      outcome: ({ events }) => `${of}: ${counted(events, 'event')}`,
    }),
  ).finally(progress.close)
}

async function rebuildFromOrders(settings: Settings): Promise<void> {
  const [{ rebuild }, { topicNames }] = await Promise.all([import('@tally/repair'), import('@tally/kafka')])
  const what = { of: 'from the stored orders', unit: 'events' }
  const { events, repaired } = await rebuildWith(settings, what, (deps, onProgress) =>
    rebuild(deps, {
      topics: topicNames(settings.topicPrefix),
      onDropping: () => say('dropping what an interrupted --from-kafka has read'),
      onProgress,
    }),
  )
  print(`${counted(events, 'event')} rebuilt, ${repaired} of them wrong in Postgres; all agree now`)
}

async function rebuildFromTopics(
  settings: Settings,
  kafka: Parameters<Parameters<typeof withKafka>[2]>[0],
  mayRemove: boolean,
): Promise<void> {
  const { rebuildFromKafka } = await import('@tally/repair')
  const what = { of: 'from Kafka', unit: 'records' }
  const { events, records } = await rebuildWith(settings, what, (deps, onProgress) =>
    rebuildFromKafka(
      { kafka, ...deps },
      {
        settings,
        mayRemove,
        onRemoved: what => say(`removed ${what}, which the topics no longer hold`),
        onContinued: done => say(`continuing an interrupted run: ${counted(done, 'record')} already read`),
        onProgress,
      },
    ),
  )
  print(`${counted(events, 'event')} rebuilt from ${counted(records, 'record')}`)
}
