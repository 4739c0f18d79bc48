import { topicNames } from '@tally/kafka'
import { asOfField } from '@tally/publication'
import { allKeys, type WholeRedis } from './redis.ts'

/** The earliest watermark of all partitions in Redis: all before it is counted and published; 0 if one is missing. */
export async function earliestAsOf(
  redis: WholeRedis,
  of: { redisPrefix: string; topicPrefix: string; partitions: number },
): Promise<number> {
  const { organizations, events, orders, refunds } = topicNames(of.topicPrefix)
  const shards = Array.from({ length: of.partitions }, (_, shard) => shard)
  const wanted = [
    { shard: 0, topic: organizations },
    ...[events, orders, refunds].flatMap(topic => shards.map(shard => ({ shard, topic }))),
  ]
  const keys = allKeys(of.redisPrefix)
  const watermarks = await Promise.all(
    wanted.map(({ shard, topic }) => redis.hget(keys.shard(shard), asOfField(topic))),
  )
  return Math.min(...watermarks.map(watermark => Number(watermark ?? 0)))
}
