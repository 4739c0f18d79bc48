import { answers } from '@tally/runtime'
import type { Postgres, RedisClient } from '@tally/storage'
import { sql } from 'kysely'

/** For each of the two: together they stay below 1 s, the default timeout of a Kubernetes probe. */
const patienceMs = 400

/**
 * Whether a query process can answer at all: either Redis or Postgres is enough, so it is unready only without both. It
 * asks Postgres only if Redis does not answer.
 */
export function queryReadiness({ redis, db }: { redis: RedisClient; db: Postgres }) {
  return async (): Promise<string | undefined> => {
    if (await answers(patienceMs, () => redis.ping())) return undefined
    if (await answers(patienceMs, () => sql`select 1`.execute(db))) return undefined
    return 'neither Redis nor Postgres answers'
  }
}
