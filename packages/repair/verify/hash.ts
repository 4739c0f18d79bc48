import type { ReadModelRedis } from '@tally/read-models'

/** A hash of Redis and the revision it says; `{}` where there is none. Anything else under the key is `not-a-hash`. */
export type Published = { fields: Record<string, string>; revision: number } | 'not-a-hash'

/** Reads a published hash whole, at one moment. `revision` is -1 where it is missing, NaN where it is no number. */
export async function readHash(redis: ReadModelRedis, key: string): Promise<Published> {
  try {
    const fields = await redis.hgetall(key)
    return { fields, revision: revisionOf(fields.revision) }
  } catch (error) {
    if (isWrongType(error)) return 'not-a-hash'
    throw error
  }
}

/** Only the revision of a published hash; NaN where it is no whole number, or the key holds no hash. */
export async function readRevision(redis: ReadModelRedis, key: string): Promise<number> {
  try {
    return revisionOf((await redis.hget(key, 'revision')) ?? undefined)
  } catch (error) {
    if (isWrongType(error)) return Number.NaN
    throw error
  }
}

function revisionOf(text: string | undefined): number {
  if (text === undefined) return -1
  const revision = Number(text)
  return Number.isSafeInteger(revision) && revision >= 0 ? revision : Number.NaN
}

function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE')
}
