import { beforeAll } from 'vitest'
import { startTally, type Tally, useTally } from './tally.ts'

let shared: Promise<Tally> | undefined

/**
 * One projector and one query process for all files of a test worker, whose records are of other organizations: a start
 * costs as much of the processor as many a file's tests. They end with the worker, and what they wrote goes with the
 * run's servers; on servers that outlast the run, a file gets processes of its own instead, which clear up.
 *
 * For files that neither stop a process nor break a server, and that no dead letter or line of the log of another file
 * can disturb.
 */
export function useSharedTally(): Tally {
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL } = process.env
  if (KAFKA_BROKERS || DATABASE_URL || REDIS_URL) return useTally()
  const tally = {} as Tally
  beforeAll(async () => {
    shared ??= start()
    Object.assign(tally, await shared)
  })
  return tally
}

function start(): Promise<Tally> {
  // Vitest ends its workers by a signal, at which Node calls no handler of `exit`: that ends the processes.
  process.once('SIGTERM', () => process.exit())
  return startTally({})
}
