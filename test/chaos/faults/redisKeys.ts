import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '@tally/testkit/random'
import { allKeys } from '@tally/testkit/servers/redis'
import { Redis } from 'ioredis'
import { checkAnswers } from '../checks/checking.ts'
import { untilSent } from '../load/feeding.ts'
import type { Fault, FaultTools } from '../run/fault.ts'
import type { LinkedSystem } from '../system/linkedSystem.ts'
import { partitions, prefix } from '../system/system.ts'

/** The limit for recovery without help (docs/reliability.md, Redis). */
const healTimeoutMs = 60_000

const keys = allKeys(prefix)
type Id = Parameters<typeof keys.event>[0] & Parameters<typeof keys.organization>[0]

/** One, half or all of the keys that a kind of damage affects. */
function chosenKeys(random: Random, { eventIds, feeding }: FaultTools): string[] {
  const events = eventIds().map(id => keys.event(id as Id))
  const organizations = [...new Set(eventIds().map(feeding.book.organizationOf))].map(id =>
    keys.organization(id as Id),
  )
  const shards = Array.from({ length: partitions }, (_, shard) => keys.shard(shard))
  const kind = random.of([events, events, shards, organizations, [...events, ...shards, ...organizations]])
  const count = random.of([1, Math.ceil(kind.length / 2), kind.length])
  return random.shuffled(kind).slice(0, count)
}

async function withRedis<Result>(
  { servers }: LinkedSystem,
  use: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const redis = new Redis(servers.redisUrl)
  return use(redis).finally(() => redis.disconnect())
}

/** Saves keys as they are now; returns a function that restores them, and their current revisions. */
async function keep(redis: Redis, names: string[]) {
  const dumps = await Promise.all(names.map(name => redis.dumpBuffer(name)))
  return async (): Promise<Map<string, number>> => {
    const revisions = await revisionsOf(redis, names)
    for (const [index, name] of names.entries()) {
      const dump = dumps[index]
      if (dump) await redis.restore(name, 0, dump, 'REPLACE')
      else await redis.del(name)
    }
    return revisions
  }
}

async function revisionsOf(redis: Redis, names: string[]): Promise<Map<string, number>> {
  const revisions = await Promise.all(names.map(name => redis.hget(name, 'revision')))
  return new Map(names.map((name, index) => [name, Number(revisions[index] ?? 0)]))
}

/** Waits until each key has its revision again, although no further record arrives. */
async function untilHealed(redis: Redis, wanted: Map<string, number>, { wrongs }: FaultTools): Promise<void> {
  for (const until = Date.now() + healTimeoutMs; ; await sleep(100)) {
    const now = await revisionsOf(redis, [...wanted.keys()])
    const behind = [...wanted].filter(([name, revision]) => (now.get(name) ?? 0) < revision)
    if (behind.length === 0) return
    if (Date.now() < until) continue
    wrongs.add('a key that went back is right again within 60 s', behind)
    return
  }
}

/** Keeps what chosen keys hold now and returns how to put it back, after some hundred records have been sent. */
async function keepForAWhile(redis: Parameters<typeof keep>[0], random: Random, tools: FaultTools) {
  const putBack = await keep(redis, chosenKeys(random, tools))
  await untilSent(tools.feeding, tools.feeding.sent() + random.whole(200, 1_500))
  return putBack
}

export const redisKeyFaults: Fault[] = [
  {
    name: 'keys of Redis go back under load',
    allows: 'everything',
    recoverTimeoutMs: healTimeoutMs,
    listsTimeoutMs: healTimeoutMs,
    run: (system, random, tools) =>
      withRedis(system, async redis => {
        const putBack = await keepForAWhile(redis, random, tools)
        await putBack()
      }),
  },
  {
    name: 'keys of Redis go back while no record arrives',
    allows: 'everything',
    listsTimeoutMs: healTimeoutMs,
    run: (system, random, tools) =>
      withRedis(system, async redis => {
        const putBack = await keepForAWhile(redis, random, tools)
        const lastMs = await tools.feeding.pause()
        await tools.isFresh({ sinceMs: lastMs + 1, timeoutMs: healTimeoutMs })
        await untilHealed(redis, await putBack(), tools)
        await checkAnswers(tools, tools.eventIds())
      }),
  },
]
