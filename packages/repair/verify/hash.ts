import type { ReadModelRedis } from '@tally/publication'

/** A hash in Redis and its revision; `{}` if there is none. Any other value under the key is `not-a-hash`. */
export type PublishedHash = { fields: Record<string, string>; revision: number } | 'not-a-hash'

/** Reads a published hash in one command. `revision` is -1 if it is missing, NaN if it is not a number. */
export async function readHash(redis: ReadModelRedis, key: string): Promise<PublishedHash> {
  try {
    const fields = await redis.hgetall(key)
    return { fields, revision: revisionOf(fields.revision) }
  } catch (error) {
    if (isWrongType(error)) return 'not-a-hash'
    throw error
  }
}

/** Only the revision of a published hash; NaN if it is not a whole number, or the key holds no hash. */
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
