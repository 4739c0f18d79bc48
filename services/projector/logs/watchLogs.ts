import { setTimeout as sleep } from 'node:timers/promises'
import { type Logger, partOf } from '@tally/platform'
import type { ProjectorMetrics } from '../metrics.ts'
import type { Logs } from './logs.ts'

/** How soon a topic that was created again is noticed without new records, and an operator's command takes effect. */
const everyMs = 1_000

type Deps = { logs: Logs; metrics: Pick<ProjectorMetrics, 'failures'>; logger: Logger }

/** Compares the assigned partitions with Kafka once a second. Returns a function that stops it. */
export function watchLogs({ logs, metrics, logger }: Deps): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await logs.tick().catch(error => {
        metrics.failures.inc({ part: partOf(error) })
        logger.debug({ err: error }, 'the logs could not be compared; trying again')
      })
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const done = run()
  return () => {
    stopping.abort()
    return done
  }
}
