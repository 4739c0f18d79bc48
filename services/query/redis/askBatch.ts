import type { AccessKeys, AccessRedis, Taken } from '@tally/access'
import type { EventId } from '@tally/contract'
import {
  type ReadModelRedis,
  type RedisKeys,
  readEventVersion,
  readShardHash,
  readVersions,
} from '@tally/read-models'
import type { RateLimits } from '@tally/runtime'
import { Cluster } from 'ioredis'
import { type Batch, settle, settleWith } from './batch.ts'
import type { Breaker } from './breaker.ts'
import type { Waiter } from './waiter.ts'

/** The length of a window of the rate limit. */
export const windowMs = 60_000

export type AskDeps = {
  redis: AccessRedis & ReadModelRedis
  keys: RedisKeys & AccessKeys
  topics: string[]
  breaker: Pick<Breaker, 'noteWrite'>
}
/** Sends the commands of one batch; the promise resolves when all are answered. */
type AskBatch = (batch: Batch) => Promise<unknown>

export const openAskBatch = (deps: AskDeps, limits: RateLimits): AskBatch =>
  deps.redis instanceof Cluster ? askSlots(deps, limits) : askNode(deps, limits)

/**
 * On one node two scripts: one takes from all windows, which Redis may refuse, the other reads all hashes. With a
 * command for each, commands cost this process more than all else of a request.
 */
function askNode({ redis, keys, topics, breaker }: AskDeps, limits: RateLimits): AskBatch {
  const limitPairs = Object.entries(limits).flat()

  const takeRequests = async ({ takers }: Batch) => {
    if (takers.size === 0) return
    const windows = [...takers.keys()].flatMap(id => [keys.window(id), keys.organization(id)])
    const counts = [...takers.values()].map(({ count }) => count)
    try {
      const reply = await redis.takeFromEach(windows.length, ...windows, windowMs, ...counts, ...limitPairs)
      const taken = reply.split('\n')
      let index = 0
      for (const waiter of takers.values()) settleTaken(waiter, toTaken(taken[index++]), breaker)
    } catch (error) {
      for (const waiter of takers.values()) settleTaken(waiter, toError(error), breaker)
    }
  }

  const readHashes = async ({ shards, events }: Batch) => {
    const wanted = new Map<number, Set<EventId>>([...shards].map(([shard, { events }]) => [shard, events]))
    for (const [id, { shard }] of events) wanted.set(shard, (wanted.get(shard) ?? new Set()).add(id))
    if (wanted.size === 0) return
    const pairs = [...wanted].map(([shard, ids]): [number, EventId[]] => [shard, [...ids]])
    try {
      const versions = await readVersions({ redis, keys }, topics, pairs)
      for (const [index, [shard, ids]] of pairs.entries()) {
        const found = versions[index]
        if (found === undefined) continue
        settleWith(shards.get(shard), found.hash)
        for (const [index, id] of ids.entries()) settleWith(events.get(id), found.events[index])
      }
    } catch (error) {
      for (const waiter of [...shards.values(), ...events.values()]) waiter.reject(error)
    }
  }

  return batch => Promise.all([takeRequests(batch), readHashes(batch)])
}

/** In a cluster, a command for each window and each hash: no script touches two slots. */
function askSlots({ redis, keys, topics, breaker }: AskDeps, limits: RateLimits): AskBatch {
  const limitPairs = Object.entries(limits).flat()

  const takeRequests = ({ takers }: Batch) =>
    [...takers].map(async ([id, waiter]) => {
      const { count } = waiter
      const taken = await redis
        .takeRequests(keys.window(id), keys.organization(id), windowMs, count, ...limitPairs)
        .catch(toError)
      settleTaken(waiter, taken, breaker)
    })

  const readShards = ({ shards }: Batch) =>
    [...shards].map(([shard, waiter]) =>
      settle(waiter, () => readShardHash({ redis, keys }, topics, shard, [...waiter.events])),
    )

  const readEvents = ({ events, shards }: Batch) =>
    [...events].map(([id, waiter]) =>
      settle(waiter, async () => {
        // One connection answers in the order asked; the nodes of a cluster do not.
        await shards.get(waiter.shard)?.promise.catch(() => undefined)
        return readEventVersion({ redis, keys }, id)
      }),
    )

  return batch => Promise.all([...takeRequests(batch), ...readShards(batch), ...readEvents(batch)])
}

/** Undefined is what requests get that Redis did not take; a batch that is refused as a whole makes no write. */
function settleTaken(
  waiter: Waiter<Taken | undefined>,
  taken: Taken | Error,
  breaker: Pick<Breaker, 'noteWrite'>,
): void {
  if (taken instanceof Error) breaker.noteWrite(taken)
  else if (taken !== null && taken[0] > 0) breaker.noteWrite()
  waiter.resolve(taken instanceof Error ? undefined : taken)
}

/** A line of takeFromEach.n.lua. */
function toTaken(line = ''): Taken | Error {
  if (line === '-') return null
  return /^\d/.test(line)
    ? (line.split(' ').map(Number) as NonNullable<Taken>)
    : new Error(line || 'a line of the reply is missing')
}
const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
