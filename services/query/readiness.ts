import type { Postgres, RedisClient } from '@tally/read-models'
import { answers } from '@tally/runtime'
import { sql } from 'kysely'

/** Together below the second that Kubernetes gives a probe by default. */
const patienceMs = 400

/**
 * Whether a query process can answer at all: with Redis or with Postgres alone it can, so only the loss of both makes
 * it unready. Postgres is asked only if Redis does not answer.
 */
export function queryReadiness({ redis, db }: { redis: RedisClient; db: Postgres }) {
  return async (): Promise<string | undefined> => {
    if (await answers(patienceMs, () => redis.ping())) return undefined
    if (await answers(patienceMs, () => sql`select 1`.execute(db))) return undefined
    return 'neither Redis nor Postgres answers'
  }
}
