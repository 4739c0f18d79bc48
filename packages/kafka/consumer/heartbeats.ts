import { meansRejoin } from '../client/crash.ts'
import type { Generation } from './generation.ts'

type HeartbeatDeps = { everyMs: number; isBusy: () => boolean; current: () => Generation }

/**
 * Sends heartbeats while batches are processed, because kafkajs sends them only between batches. A heartbeat that
 * reports a rebalance ends the generation in which it was sent.
 */
export function openHeartbeats({ everyMs, isBusy, current }: HeartbeatDeps) {
  let sendNow: (() => Promise<void>) | undefined
  let running: Promise<void> | undefined

  const beat = async (): Promise<void> => {
    const generation = current()
    try {
      await sendNow?.()
    } catch (error) {
      if (meansRejoin(error)) generation.over.abort()
    }
  }
  const send = (): Promise<void> => {
    running ??= beat().finally(() => {
      running = undefined
    })
    return running
  }
  const timer = setInterval(() => isBusy() && void send(), everyMs)
  return {
    /** Never throws. */
    send,
    /** kafkajs passes its heartbeat with each batch. */
    sendWith(heartbeat: () => Promise<void>): void {
      sendNow = heartbeat
    },
    stop: () => clearInterval(timer),
  }
}
