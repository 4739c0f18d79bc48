import { setTimeout as sleep } from 'node:timers/promises'
import type { Count, Expected } from '../data/count.ts'

const catchUpMs = 30_000

/** Notes when each order was sent and when its event's screen showed it. */
export type Evening = {
  sent: (event: number) => void
  shown: (event: number, orders: number) => void
  /** How long orders took since the last call (ms); throws if some are still not shown. */
  taken: () => Promise<number[]>
}

/** Begins with the orders that the count has of each event, on its last day. */
export function openEvening(count: Count): Evening {
  const events = count.eventIds().map(eventId => {
    const [kpis] = count.lastAnswers(eventId)
    const { totalOrders } = (kpis as Expected).data as { totalOrders: number }
    return { before: totalOrders, shown: 0, sentAt: [] as number[] }
  })
  let took: number[] = []
  return {
    sent: event => void events[event]?.sentAt.push(performance.now()),
    shown(event, orders) {
      const of = events[event] as (typeof events)[number]
      const now = performance.now()
      while (of.before + of.shown < orders) took.push(now - (of.sentAt[of.shown++] ?? Number.NaN))
    },
    async taken() {
      for (const until = performance.now() + catchUpMs; ; await sleep(20)) {
        if (events.every(({ shown, sentAt }) => shown === sentAt.length)) break
        if (performance.now() > until) throw new Error(`live screens lack orders after ${catchUpMs} ms`)
      }
      const all = took
      took = []
      return all
    },
  }
}
