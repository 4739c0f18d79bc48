import { type Postgres, pingPostgres, pingRedis, type RedisClient, silenceOf } from '@tally/platform'

/** For each of the two: together they stay below 1 s, the default timeout of a Kubernetes probe. */
const answerTimeoutMs = 400

/**
 * Whether a query process can answer at all: either Redis or Postgres is enough, so it is unready only without both. It
 * asks Postgres only if Redis does not answer.
 */
export function queryReadiness({ redis, db }: { redis: RedisClient; db: Postgres }) {
  return async (): Promise<string | undefined> => {
    const noRedis = await silenceOf(answerTimeoutMs, () => pingRedis(redis))
    if (noRedis === undefined) return undefined
    const noPostgres = await silenceOf(answerTimeoutMs, () => pingPostgres(db))
    if (noPostgres === undefined) return undefined
    return `neither Redis (${noRedis}) nor Postgres (${noPostgres}) answers`
  }
}
