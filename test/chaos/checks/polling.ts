import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '@tally/platform'
import type { Rule } from './allowed.ts'
import { type Asking, type AskingDeps, isGone, openAsking, type Polled, type Target } from './asking.ts'

export type Polling = {
  allow: (rule: Rule) => void
  seen: () => ReturnType<Asking['seen']> & { wholeBatches: number }
  stop: () => Promise<void>
}

export type PollingDeps = AskingDeps & {
  queries: () => Polled[]
  targets: () => Target[]
  /** The revision of an event in Postgres; undefined if Postgres does not answer at once. */
  revisionOf: (eventId: string) => Promise<number | undefined>
  /** An order that a process must know if it said this `asOf` (epoch milliseconds) of its event. */
  orderOf?: (eventId: string, asOfMs: number) => string | undefined
  readers: number
}

const pauseMs = 15
const kpis = '/analytics/kpis'
const others = [
  '',
  '/analytics/sales-trend?days=365',
  '/analytics/orders/top-items?limit=100',
  '/orders?pageSize=100&page=1',
  '/orders?status=Cancelled&pageSize=100&page=1',
]

/**
 * Asks all views of the targets over HTTP, all the time, from several readers, each group of questions from one query
 * process. Every answer must be allowed and true to its own `asOf`, no group may show half a batch, nothing may go
 * back, and no ETag may stand for two bodies.
 */
export function startPolling(deps: PollingDeps): Polling {
  const { queries, targets, revisionOf, orderOf = () => undefined, random, wrongs, readers } = deps
  const { get, allow, mayGoBack, seen } = openAsking(deps)
  let wholeBatches = 0
  let stopped = false

  /**
   * Asks three views between two answers of the first one that say the same. That alone does not mean that nothing
   * changed: a refund of 12.50, then an order more and a refunded one cancelled, and the totals are what they were. So
   * either the event's totals only ever grow, or no batch was committed meanwhile. Returns the `asOf` of its first
   * answer.
   */
  const askGroup = async (query: Polled, target: Target): Promise<number | undefined> => {
    const begunMs = Date.now()
    const revision = target.grows ? undefined : await revisionOf(target.eventId)
    const first = await get(query, target, kpis)
    const [hours, items] = await Promise.all([
      get(query, target, '/analytics/orders/by-hour'),
      get(query, target, '/live/item-counts'),
    ])
    const last = await get(query, target, kpis)
    const asOfMs = first === undefined ? undefined : Date.parse(first.body.meta.asOf ?? '1970-01-01')
    if (!first || !hours || !items || !last || first.headers.etag !== last.headers.etag) return asOfMs
    if (new Set([first, hours, items].map(({ body }) => body.meta.dayId)).size > 1) return asOfMs
    const isStill = revision !== undefined && revision === (await revisionOf(target.eventId))
    if (!target.grows && !isStill) return asOfMs
    // Two sources may have answered, and the first one again: each of its own state.
    if (mayGoBack(begunMs)) return asOfMs
    wholeBatches++
    const { totalOrders, totalSales, totalItemsSold } = first.body.data
    const answered = { totalOrders, totalSales, totalItemsSold }
    const added = {
      totalOrders: sum(hours.body.data, 'orderCount'),
      totalSales: Math.round(100 * sum(hours.body.data, 'revenue')) / 100,
      totalItemsSold: sum(items.body.data, 'quantitySold'),
    }
    if (JSON.stringify(answered) !== JSON.stringify(added))
      wrongs.add('never half a batch', { event: target.eventId, query: query.name, answered, added })
    return asOfMs
  }

  const read = async (): Promise<void> => {
    while (!stopped) {
      const alive = queries().filter(query => !isGone(query))
      const all = targets()
      if (alive.length > 0 && all.length > 0) {
        const [query, target] = [random.of(alive), random.of(all)]
        const asOfMs = await askGroup(query, target)
        await get(query, target, random.of(others))
        const order = asOfMs === undefined ? undefined : orderOf(target.eventId, asOfMs)
        if (order !== undefined) await get(query, target, `/orders/${order}`)
      }
      await sleep(pauseMs)
    }
  }
  const running = Promise.all(Array.from({ length: readers }, read)).catch(error =>
    wrongs.add('a reader keeps polling', String(error)),
  )
  return {
    allow,
    seen: () => ({ ...seen(), wholeBatches }),
    async stop() {
      stopped = true
      await running
    },
  }
}

/** What `revisionOf` needs: the event's head, or undefined if Postgres is away or slow. */
export async function revisionIn(db: Postgres, eventId: string): Promise<number | undefined> {
  const late = sleep(200, undefined, { ref: false })
  const head = db
    .selectFrom('event_heads')
    .select('revision')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
    .catch(() => undefined)
  return (await Promise.race([head, late]))?.revision
}

function sum(rows: Record<string, number>[], name: string): number {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0)
}
