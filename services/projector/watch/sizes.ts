import { readLargestOrganizations, readUnmeasured, storeSizes } from '@tally/figures'
import type { TopicPartition } from '@tally/kafka'
import type { ReadModel, ReadModelRedis } from '@tally/publication'
import type { ProjectorMetrics } from '../metrics.ts'

const everyMs = 60_000
const eventsAtOnce = 1_000
/** Smaller organizations have no series: there may be thousands of them, and no alert is about them. */
const largest = { rows: 100_000, redisBytes: 10_000_000, limit: 100 }

/** 0 without the key, and where the server does not allow the command. */
const bytesOf = async (redis: ReadModelRedis, key: string): Promise<number> => {
  const bytes = await redis.memory('USAGE', key).catch(error => {
    if (error instanceof Error && error.name === 'ReplyError') return 0
    throw error
  })
  return bytes ?? 0
}

export type SizesDeps = ReadModel & {
  organizationsTopic: string
  metrics: Pick<ProjectorMetrics, 'organizationRows' | 'organizationRedisBytes'>
}

/**
 * Measures what the events of each organization take in Postgres and Redis, so that somebody notices one that fills
 * them (docs/reference.md, Metrics): each event again once it has changed, a minute later at most. Only the
 * projector that reads the organizations does.
 */
export class Sizes {
  private nextMs = 0
  private readonly deps: SizesDeps

  constructor(deps: SizesDeps) {
    this.deps = deps
  }

  /** Measures if a minute has passed, or at once if many events are left; throws if Redis or Postgres is down. */
  async step(assigned: TopicPartition[]): Promise<void> {
    const { db, organizationsTopic, metrics } = this.deps
    if (performance.now() < this.nextMs) return
    this.nextMs = performance.now() + everyMs
    const isKeeper = assigned.some(({ topic }) => topic === organizationsTopic)
    if (isKeeper && (await this.measure())) this.nextMs = 0
    const organizations = isKeeper ? await readLargestOrganizations(db, largest) : []
    metrics.organizationRows.reset()
    metrics.organizationRedisBytes.reset()
    for (const { organizationId, rows, redisBytes } of organizations) {
      const organization = { organization: organizationId ?? 'unknown' }
      metrics.organizationRows.set(organization, rows)
      metrics.organizationRedisBytes.set(organization, redisBytes)
    }
  }

  /** Returns whether events are left. */
  private async measure(): Promise<boolean> {
    const { db, redis, keys } = this.deps
    const events = await readUnmeasured(db, eventsAtOnce)
    const measured = await Promise.all(
      events.map(async event => ({
        ...event,
        redisBytes: await bytesOf(redis, keys.event(event.eventId)),
      })),
    )
    if (measured.length > 0) await storeSizes(db, measured)
    return events.length === eventsAtOnce
  }
}
