import type { RedisClient } from '@tally/platform'
import { type RedisKeys, readShardHash } from '@tally/publication'
import type { Watermarks } from './watermarks.ts'

const holdsMs = 500

/**
 * Returns the function that tells whether Redis is behind Postgres in any shard: a list of events has no watermark of
 * its own, and its events may be in all shards. What it found holds for half a second. Rejects if Redis fails.
 */
export function createStaleness({
  redis,
  keys,
  topics,
  watermarks,
}: {
  redis: RedisClient
  keys: RedisKeys
  topics: string[]
  watermarks: Pick<Watermarks, 'ages' | 'isBehind'>
}): () => Promise<boolean> {
  let found: Promise<boolean> | undefined
  const isBehind = async (shard: number): Promise<boolean> => {
    const { asOfMs } = await readShardHash({ redis, keys }, topics, shard, [])
    return asOfMs === null || watermarks.isBehind(shard, asOfMs)
  }
  const look = async () => {
    const shards = [...watermarks.ages().keys()]
    return (await Promise.all(shards.map(isBehind))).includes(true)
  }
  const forget = () => {
    found = undefined
  }
  return () => {
    if (found === undefined) {
      found = look()
      found.then(() => setTimeout(forget, holdsMs).unref(), forget)
    }
    return found
  }
}
