import { type Logger, partOf } from '@tally/runtime'
import type { ProjectorMetrics } from '../metrics.ts'
import type { Logs } from './openLogs.ts'

/** How soon a topic that was created again is noticed without new records, and an operator's command takes effect. */
const everyMs = 1_000

type Deps = { logs: Logs; metrics: Pick<ProjectorMetrics, 'failures'>; logger: Logger }

/** Compares the assigned partitions with Kafka once a second. Returns a function that stops it. */
export function watchLogs({ logs, metrics, logger }: Deps): () => Promise<void> {
  const stopping = Promise.withResolvers<void>()
  let isStopped = false
  const run = async (): Promise<void> => {
    while (!isStopped) {
      await logs.tick().catch(error => {
        metrics.failures.inc({ part: partOf(error) })
        logger.debug({ err: error }, 'the logs could not be compared; trying again')
      })
      if (!isStopped) await Promise.race([sleep(everyMs), stopping.promise])
    }
  }
  const done = run()
  return () => {
    isStopped = true
    stopping.resolve()
    return done
  }
}

const sleep = (ms: number): Promise<void> => new Promise(resolve => void setTimeout(resolve, ms).unref())
