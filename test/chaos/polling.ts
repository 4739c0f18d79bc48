import { setTimeout as pause } from 'node:timers/promises'
import type { Postgres } from '@tally/read-models'
import { ask, type Reply } from '../support/http.ts'
import type { Random } from './random.ts'
import type { Wrongs } from './wrong.ts'

/** What answers may say while something is broken (decisions.md, When a part is down). */
export type Allowed =
  /** 200 everywhere. */
  | 'everything'
  /** Orders may answer 503. */
  | 'no-orders'
  /** All may answer 503. */
  | 'nothing'

export type Target = { eventId: string; token: string; grows: boolean }

/** A query process; one that is ended on purpose may leave questions without an answer. */
export type Polled = { name: string; address: string; hasEnded?: () => boolean; isUnwanted?: () => boolean }

export type Polling = {
  /** From now on; from a stricter rule on, what was asked before, and within the time to come back, may still be as before. */
  allow: (allowed: Allowed) => void
  seen: () => { answers: number; unavailable: number; wholeBatches: number; backAcrossProcesses: number }
  stop: () => Promise<void>
}

export type PollingParts = {
  queries: () => Polled[]
  targets: () => Target[]
  /** The revision of an event in Postgres; undefined where it does not answer at once. */
  revisionOf: (eventId: string) => Promise<number | undefined>
  random: Random
  wrongs: Wrongs
  readers?: number
}

/** The highest value that has come, and which question brought it. */
type Latest = { value: number; from: string }
type Before = Map<string, Latest | undefined>

/** A process may go on for so long with what it had begun when a part was away, or with its rest from time-outs. */
const comeBackMs = 6_000
const answerWithinMs = 20_000
const pauseMs = 15

/**
 * Asks all views of the targets over HTTP, all the time, from several readers, each group of questions from one query
 * process. Every answer must be allowed, no group may show half a batch, and nothing may go back.
 */
export function startPolling({
  queries,
  targets,
  revisionOf,
  random,
  wrongs,
  readers = 3,
}: PollingParts): Polling {
  const rules: { allowed: Allowed; sinceMs: number }[] = [{ allowed: 'everything', sinceMs: 0 }]
  const seen = { answers: 0, unavailable: 0, wholeBatches: 0, backAcrossProcesses: 0 }
  const latest = new Map<string, Latest>()
  let stopped = false

  /** Whether this was allowed at any time from when it was asked (and a while before) until it came. */
  const mayFail = (path: string, askedMs: number): boolean =>
    rules.some(({ allowed, sinceMs }, index) => {
      const untilMs = rules[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY
      const meets = untilMs + comeBackMs >= askedMs && sinceMs <= Date.now()
      return (
        meets &&
        (allowed === 'nothing' ||
          (allowed === 'no-orders' && path.includes('/orders') && !path.includes('/analytics/')))
      )
    })

  const get = async (
    query: Polled,
    { eventId, token, grows }: Target,
    path: string,
  ): Promise<Reply | undefined> => {
    const askedMs = Date.now()
    const before = new Map(whatOf(eventId, query).map(what => [what, latest.get(what)]))
    const where = `${path} of ${eventId} at ${query.name}`
    const late = pause(answerWithinMs, undefined, { ref: false })
    let reply: Reply | undefined
    try {
      reply = await Promise.race([ask(query.address, `/api/v1/events/${eventId}${path}`, { token }), late])
    } catch (error) {
      // A process that is killed breaks its connections; any other must not.
      await pause(100)
      if (!isGone(query)) wrongs.add('an answer', `${where}: ${String(error)}`)
      return undefined
    }
    if (reply === undefined) {
      if (!isGone(query)) wrongs.add('an answer within 20 s', where)
      return undefined
    }
    seen.answers++
    if (reply.status === 503 && mayFail(path, askedMs)) {
      seen.unavailable++
      if (!(Number(reply.headers['retry-after']) >= 1)) wrongs.add('a 503 says Retry-After', where)
      return undefined
    }
    if (reply.status !== 200) {
      wrongs.add('only what the table allows', `${where}: ${reply.status} ${reply.text.slice(0, 300)}`)
      return undefined
    }
    notBack(`asOf of ${eventId}`, query, Date.parse(reply.body.meta.asOf ?? '1970-01-01'), before, where)
    if (grows && path === '/analytics/kpis') {
      for (const name of ['totalOrders', 'totalSales', 'totalItemsSold'])
        notBack(`${name} of ${eventId}`, query, reply.body.data[name], before, where)
    }
    return reply
  }

  /** Compares with what had come before this was asked; what came meanwhile may well be newer. */
  const notBack = (what: string, query: Polled, value: number, before: Before, where: string) => {
    const own = `${what} at ${query.name}`
    const known = before.get(own)
    if (known !== undefined && value < known.value)
      wrongs.add(
        'a view never goes back',
        `${where}: ${what} was ${known.value} (${known.from}), is ${value}`,
      )
    else if (value < (before.get(what)?.value ?? 0)) seen.backAcrossProcesses++
    for (const key of [own, what]) {
      if (value >= (latest.get(key)?.value ?? 0)) latest.set(key, { value, from: where })
    }
  }

  /**
   * Asks three views between two answers of the first one that say the same. That alone does not mean that nothing changed: a
   * refund of 12.50, then an order more and a refunded one cancelled, and the totals are what they were. So either the
   * event's totals only ever grow, or no batch was committed meanwhile.
   */
  const askGroup = async (query: Polled, target: Target): Promise<void> => {
    const revision = target.grows ? undefined : await revisionOf(target.eventId)
    const first = await get(query, target, '/analytics/kpis')
    const [hours, items] = await Promise.all([
      get(query, target, '/analytics/orders/by-hour'),
      get(query, target, '/live/item-counts'),
    ])
    const last = await get(query, target, '/analytics/kpis')
    if (!first || !hours || !items || !last || first.headers.etag !== last.headers.etag) return
    if (new Set([first, hours, items].map(({ body }) => body.meta.dayId)).size > 1) return
    const isStill = revision !== undefined && revision === (await revisionOf(target.eventId))
    if (!target.grows && !isStill) return
    seen.wholeBatches++
    const { totalOrders, totalSales, totalItemsSold } = first.body.data
    const told = { totalOrders, totalSales, totalItemsSold }
    const added = {
      totalOrders: sum(hours.body.data, 'orderCount'),
      totalSales: Math.round(100 * sum(hours.body.data, 'revenue')) / 100,
      totalItemsSold: sum(items.body.data, 'quantitySold'),
    }
    if (JSON.stringify(told) !== JSON.stringify(added))
      wrongs.add('never half a batch', { event: target.eventId, query: query.name, told, added })
  }

  const others = [
    '',
    '/analytics/sales-trend',
    '/analytics/orders/top-items',
    '/orders',
    '/orders?status=Cancelled',
  ]
  const read = async (): Promise<void> => {
    while (!stopped) {
      const alive = queries().filter(query => !isGone(query))
      const all = targets()
      if (alive.length > 0 && all.length > 0) {
        const [query, target] = [random.of(alive), random.of(all)]
        await askGroup(query, target)
        await get(query, target, random.of(others))
      }
      await pause(pauseMs)
    }
  }
  const running = Promise.all(Array.from({ length: readers }, read)).catch(error =>
    wrongs.add('a reader goes on', String(error)),
  )
  return {
    allow: allowed => rules.push({ allowed, sinceMs: Date.now() }),
    seen: () => ({ ...seen }),
    async stop() {
      stopped = true
      await running
    },
  }
}

/** What `revisionOf` needs: the event's head, or undefined where Postgres is away or slow. */
export async function revisionIn(db: Postgres, eventId: string): Promise<number | undefined> {
  const late = pause(200, undefined, { ref: false })
  const head = db
    .selectFrom('event_heads')
    .select('revision')
    .where('event_id', '=', eventId)
    .executeTakeFirst()
    .catch(() => undefined)
  return (await Promise.race([head, late]))?.revision
}

const isGone = ({ hasEnded, isUnwanted }: Polled) => hasEnded?.() === true || isUnwanted?.() === true

/** What must not go back: of an event in all, and as one process says it. */
function whatOf(eventId: string, { name }: Polled): string[] {
  const whats = ['asOf', 'totalOrders', 'totalSales', 'totalItemsSold'].map(what => `${what} of ${eventId}`)
  return [...whats, ...whats.map(what => `${what} at ${name}`)]
}

function sum(rows: Record<string, number>[], name: string): number {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0)
}
