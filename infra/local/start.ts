import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runTally } from './demo/runTally.ts'
import { lock } from './demo/startLock.ts'
import { localFolder } from './folder.ts'
import { listenForInterruption } from './interruption.ts'
import { log } from './words.ts'

const help = `npm start [-- options]
  Starts Kafka, Redis and Postgres for this checkout (or uses those that KAFKA_BROKERS, REDIS_URL and DATABASE_URL
  name), Tally on top of them and a demonstration feed, and prints an API key, a curl line and a sign-in to the administration
  area. Ctrl-C stops it all.

  --no-feed   without the feed
  --fresh     begins with empty data and a new evening; without it a second start goes on with those of the first
  --help      this text
`

const local = localFolder('')
process.exitCode = await main()
process.exit()

async function main(): Promise<number> {
  const options = parse()
  if (options === undefined) return 2
  if (options.help === true) {
    process.stdout.write(help)
    return 0
  }
  const { signal } = listenForInterruption()
  let unlock: (() => void) | undefined
  try {
    unlock = lock(join(local, 'starts'))
    await runTally({ local, feed: options['no-feed'] !== true, fresh: options.fresh === true, signal })
    return 0
  } catch (error) {
    // The usual way to end it, once all has been stopped in good order.
    if (signal.aborted) return 0
    log(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    unlock?.()
  }
}

function parse() {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({ options: { 'no-feed': flag, fresh: flag, help: flag } }).values
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${help}`)
    return undefined
  }
}
