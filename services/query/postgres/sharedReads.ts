import { setTimeout as sleep } from 'node:timers/promises'
import type { Gate } from './gate.ts'

export type SharedReads = {
  /**
   * Reads once for all callers with the same `key` of an organization; `read` gets what each of them asked. A caller
   * joins only a read that has not begun, so that the answer is never older than the question; per key at most one read
   * runs and one waits, however many ask. Rejects with Overloaded if no place becomes free in time.
   */
  share<Asked, Result>(
    organizationId: string,
    key: string,
    asked: Asked,
    read: (asked: Asked[]) => Promise<Result>,
  ): Promise<Result>
}

type Group = {
  asked: unknown[]
  read: (asked: never[]) => Promise<unknown>
  reply: PromiseWithResolvers<unknown>
}

/**
 * After a read that took longer than `afterMs`, the next one of its key waits for as long as it took: what is asked for
 * all the time then takes half of a processor. It waits for `mostMs` at most: a read that took longer was itself
 * waiting, for a lock or for a Postgres that hangs. If that one fails, so do those who asked meanwhile: each has waited
 * for about a timeout, and would wait for another.
 */
export function createSharedReads(
  gate: Gate,
  cooldown = { afterMs: Number.POSITIVE_INFINITY, mostMs: Number.POSITIVE_INFINITY },
): SharedReads {
  /** Reads that have not begun: they may be joined. */
  const waiting = new Map<string, Group>()
  /** Keys with a read that runs or waits for a place. */
  const running = new Set<string>()

  const run = async (organizationId: string, key: string): Promise<void> => {
    const group = waiting.get(key)
    if (group === undefined || running.has(key)) return
    running.add(key)
    /** Not a number if it never begins. */
    let beganAt = Number.NaN
    const begin = () => {
      beganAt = performance.now()
      waiting.delete(key)
      return group.read(group.asked as never[])
    }
    try {
      group.reply.resolve(await gate.enter(organizationId, begin))
    } catch (error) {
      group.reply.reject(error)
      const next = waiting.get(key)
      const hasHung = performance.now() - beganAt > cooldown.mostMs
      // It is the same group if the read never began.
      if (next === group || hasHung) waiting.delete(key)
      if (hasHung) next?.reply.reject(error)
    }
    const tookMs = performance.now() - beganAt
    if (tookMs > cooldown.afterMs) await sleep(Math.min(tookMs, cooldown.mostMs), undefined, { ref: false })
    running.delete(key)
    void run(organizationId, key)
  }

  return {
    share<Asked, Result>(
      organizationId: string,
      key: string,
      asked: Asked,
      read: (asked: Asked[]) => Promise<Result>,
    ) {
      const ownKey = `${organizationId} ${key}`
      const joined = waiting.get(ownKey)
      if (joined !== undefined) {
        joined.asked.push(asked)
        return joined.reply.promise as Promise<Result>
      }
      const reply = Promise.withResolvers<unknown>()
      waiting.set(ownKey, { asked: [asked], read, reply })
      void run(organizationId, ownKey)
      return reply.promise as Promise<Result>
    },
  }
}
