import type { FeedOptions, KeptRun, Simulation } from '@tally/feed'
import { feedDefaults, type RawFeedOptions } from '@tally/feed/defaults'
import type { Command } from 'commander'
import { UsageError } from '../failure.ts'
import { openCommand, withKafka } from '../open.ts'
import { print } from '../output.ts'

type Raw = Omit<RawFeedOptions, 'topicPrefix'> & { listOrganizations?: true; json?: true }

export function addFeed(program: Command): void {
  const { rate, seed, orders, evenings, date } = feedDefaults
  program
    .command('feed')
    .description('replay a data set, or simulate festival evenings, into Kafka')
    .option('--data <FILE>', 'replay this file of JSON lines (.gz too) instead of simulating')
    .option('--rate <N>', `orders per second, 0 for as fast as possible (default: ${rate}; with --data 0)`)
    .option('--speed <X>', "replay X times as fast as the records' own time, instead of --rate")
    .option('--seed <N>', `seed of the random numbers (default: ${seed})`)
    .option('--orders <N>', `orders per evening (default: ${orders})`)
    .option('--evenings <N>', `evenings, one per day, 0 for endless (default: ${evenings})`)
    .option('--date <YYYY-MM-DD>', `date of the first evening (default: ${date})`)
    .option(
      '--resume <FILE>',
      'keep in FILE how far the run was sent; if FILE exists, continue its run (its seed, orders and date)',
    )
    .option('--list-organizations', 'print the simulated organizations and send nothing')
    .option('--json', 'print them as one JSON object per line')
    .action(async (raw: Raw) => {
      if (raw.listOrganizations) return printOrganizations(raw.json === true)
      if (raw.json) throw new UsageError('--json goes with --list-organizations: leave it out')
      await feed(raw)
    })
}

async function printOrganizations(asJson: boolean): Promise<void> {
  const { listOrganizations } = await import('@tally/feed')
  for (const organization of listOrganizations()) {
    const { organizationId, name } = organization
    print(asJson ? JSON.stringify(organization) : `${organizationId}  ${name}`)
  }
}

async function feed(raw: Raw): Promise<void> {
  const { parseFeedOptions, readKept } = await import('@tally/feed')
  const { settings, logger } = await openCommand()
  const { listOrganizations: _, json: __, ...given } = raw
  const { topicPrefix } = settings
  const options = resumed(parseFeedOptions({ ...given, topicPrefix }), raw.resume && readKept(raw.resume))
  const { checkTopics } = await import('@tally/kafka')
  await withKafka(settings, logger, async kafka => {
    await checkTopics(kafka, settings.topicPrefix)
    await send(kafka, options, raw.resume)
  })
}

/** The options with the run that a file keeps in place of their own, and from where it was sent. */
function resumed(options: FeedOptions, kept: KeptRun | undefined | ''): FeedOptions {
  const { source } = options
  if (!kept || source.kind !== 'simulation') return options
  return { ...options, source: { ...source, ...kept.run, from: kept.from } }
}

async function send(
  kafka: Parameters<Parameters<typeof withKafka>[2]>[0],
  options: FeedOptions,
  file: string | undefined,
): Promise<void> {
  const [{ openKept, runFeed, wallClock }, { openProducer }, { createProgress }] = await Promise.all([
    import('@tally/feed'),
    import('@tally/kafka'),
    import('../progress.ts'),
  ])
  const stopping = new AbortController()
  // The first signal lets the batch in flight finish, the second ends at once.
  const stop = () => (stopping.signal.aborted ? process.exit(1) : stopping.abort())
  process.on('SIGTERM', stop).on('SIGINT', stop)
  const producer = await openProducer(kafka)
  const { source } = options
  const kept = file && source.kind === 'simulation' ? openKept(file, runOf(source)) : undefined
  try {
    const progress = createProgress(process.stderr, 'feed')
    const outlets = { send: producer.send, clock: wallClock, progress, signal: stopping.signal }
    await runFeed(options, kept === undefined ? outlets : { ...outlets, keep: kept.keep })
  } finally {
    kept?.close()
    process.off('SIGTERM', stop).off('SIGINT', stop)
    await producer.close()
  }
}

const runOf = ({ seed, date, orders }: Simulation) => ({ seed, date, orders })
