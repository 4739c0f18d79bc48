import { randomUUID } from 'node:crypto'
import type { AdminDeps } from '../deps.ts'

/** How long a place is held without `keep`: several checks of a stream (stream.ts). */
const heldMs = 60_000

/** A place of a live screen, which counts in all processes. */
export type Place = { keep(): void; release(): void }

/**
 * The places of live screens over all processes: one sorted set in Redis per owner, scored by when each place ends.
 * `take` returns undefined if the owner has `most`. Without Redis, only the limits of each process hold (limits.ts). A
 * place that is not kept ends by itself, so a process that is killed holds none for long.
 */
export function createSharedPlaces({ redis, keys, logger }: Pick<AdminDeps, 'redis' | 'keys' | 'logger'>) {
  const ignore = (error: unknown) => logger.debug({ err: error }, 'Redis does not count live screens')

  return {
    async take(owner: string, most: number): Promise<Place | undefined> {
      const key = keys.screens(owner)
      const place = randomUUID()
      const hold = () => redis.takeScreen(key, place, most, heldMs)
      const release = () => void redis.zrem(key, place).catch(ignore)
      const held = { keep: () => void hold().catch(ignore), release }
      try {
        return (await hold()) === 1 ? held : undefined
      } catch (error) {
        ignore(error)
        return held
      }
    },
  }
}
