import { type AccessKeys, type AccessRedis, accessScripts, type Taken, windowScript } from '@tally/access'
import { type RateLimits, type ScriptCalls, script } from '@tally/platform'
import {
  createLines,
  type ReadModelRedis,
  type RedisKeys,
  readEventVersion,
  readModelScripts,
  readShardHash,
  shardFields,
  toEventVersion,
  toShardHash,
  versionsScript,
} from '@tally/publication'
import { type Batch, rejectReads, settle, settleWith, type Taker, type Waiter } from './batch.ts'
import type { Breaker } from './breaker.ts'

/** The length of a window of the rate limit. */
export const windowMs = 60_000

export type AskDeps = {
  redis: QueryRedis
  keys: RedisKeys & AccessKeys
  topics: string[]
  breaker: Pick<Breaker, 'noteWrite' | 'refusesWrites'>
}
/** Sends the commands of one batch; the promise resolves when all are answered. */
type AskBatch = (batch: Batch) => Promise<unknown>

export function createAskBatch(deps: AskDeps, limits: RateLimits): AskBatch {
  const [ofNode, ofSlots] = [askNode(deps, limits), askSlots(deps, limits)]
  return batch => (batch.isCluster ? ofSlots(batch) : ofNode(batch))
}

/**
 * On one node a single script takes from all windows and reads all hashes. With a command for each, commands cost this
 * process more than all else of a request; with a script for windows and one for hashes, each batch woke Redis twice.
 */
function askNode({ redis, topics, breaker }: AskDeps, limits: RateLimits): AskBatch {
  const limitPairs = Object.entries(limits).flat()
  const fields = shardFields(topics)

  const settleAll = ({ takers, shards }: Batch, reply: string) => {
    const lines = createLines(reply)
    for (const taker of takers) settleTaken(taker, toTaken(lines.next()), breaker)
    for (const shard of shards) {
      const ids = shard.events.map(({ event }) => event.id)
      settleWith(shard, toShardHash(lines.next(), topics, ids))
      for (const event of shard.events) settleWith(event, toEventVersion(lines.next()))
    }
  }

  return async batch => {
    const { takers, shards } = batch
    const keys: string[] = []
    const args: (string | number)[] = [windowMs, limitPairs.length, ...limitPairs, takers.length]
    for (const { organization, count } of takers) {
      keys.push(organization.keys.window, organization.keys.organization)
      args.push(count)
    }
    args.push(fields.length, ...fields)
    for (const { shard, events } of shards) {
      keys.push(shard.key)
      args.push(events.length)
      for (const { event } of events) {
        keys.push(event.key)
        args.push(event.field)
      }
    }
    try {
      settleAll(batch, await redis.askBatch(keys.length, ...keys, ...args))
    } catch (error) {
      for (const taker of takers) settleTaken(taker, toError(error), breaker)
      rejectReads(batch, error)
    }
  }
}

/** In a cluster, a command for each window and each hash. */
function askSlots({ redis, keys, topics, breaker }: AskDeps, limits: RateLimits): AskBatch {
  const limitPairs = Object.entries(limits).flat()

  // async: the client throws at once if no node has the slot.
  const take = async ({ organization, count }: Taker): Promise<Taken> =>
    redis.takeRequests(
      organization.keys.window,
      organization.keys.organization,
      windowMs,
      count,
      ...limitPairs,
    )

  const takeRequests = ({ takers }: Batch) =>
    takers.map(async taker => {
      settleTaken(taker, await take(taker).catch(toError), breaker)
    })

  const readShards = ({ shards }: Batch) =>
    shards.map(waiter =>
      settle(waiter, () => {
        const ids = waiter.events.map(({ event }) => event.id)
        return readShardHash({ redis, keys }, topics, waiter.shard.number, ids)
      }),
    )

  const readEvents = ({ shards }: Batch) =>
    shards.flatMap(shard =>
      shard.events.map(waiter =>
        settle(waiter, async () => {
          // One connection answers in the order asked; the nodes of a cluster do not.
          await shard.promise.catch(() => undefined)
          return readEventVersion({ redis, keys }, waiter.event.id)
        }),
      ),
    )

  return batch => Promise.all([...takeRequests(batch), ...readShards(batch), ...readEvents(batch)])
}

/** Resolves with undefined if Redis did not take the requests; a batch that is refused as a whole makes no write. */
function settleTaken(
  waiter: Waiter<Taken | undefined>,
  taken: Taken | Error,
  breaker: AskDeps['breaker'],
): void {
  if (taken instanceof Error) breaker.noteWrite(taken)
  else if (breaker.refusesWrites && taken !== null && taken[0] > 0) breaker.noteWrite()
  waiter.resolve(taken instanceof Error ? undefined : taken)
}

/** Null if Redis does not have the organization's status. */
function toTaken(line: number[] | Error): Taken | Error {
  if (line instanceof Error) return line
  return line.length === 4 ? (line as NonNullable<Taken>) : null
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

/** The scripts of the query service, for `openRedis`. */
export const queryScripts = {
  ...accessScripts,
  ...readModelScripts,
  /** See scripts/askBatch.n.lua. */
  askBatch: script<(keys: number, ...args: (string | number)[]) => Promise<string>>(
    new URL('scripts/askBatch.n.lua', import.meta.url),
    windowScript,
    versionsScript,
  ),
}

/** A client with these scripts. */
export type QueryRedis = AccessRedis & ReadModelRedis & ScriptCalls<Pick<typeof queryScripts, 'askBatch'>>
