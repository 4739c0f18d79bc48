import type { Reply } from '@tally/testkit/processes/http'
import type { Book } from './book.ts'
import { differenceOf } from './difference.ts'
import type { Journal } from './journal.ts'
import type { Total } from './shares.ts'
import type { Wrongs } from './wrong.ts'

/** An event that has been at rest for this long is compared as a whole; after each record that would take too long. */
const restMs = 1_500
/** Answers with more undecided orders than this are not checked order by order: that would take too long. */
const mostUnsure = 1_000

export type Claims = {
  /** Checks an answer about an event against its own `asOf`. */
  check: (asked: { eventId: string; path: string; where: string }, reply: Reply) => void
  seen: () => { claims: number; wholeClaims: number }
}

/**
 * Checks each answer against what it claims: `asOf` is not later than the clock of the database, which is this
 * machine's; everything that Kafka had acknowledged before `asOf` is counted; nothing is counted that was not sent. If
 * no record of an event was sent since, its answer must equal the count.
 */
export function openClaims({
  book,
  journal,
  wrongs,
}: {
  book: Book
  journal: Journal
  wrongs: Wrongs
}): Claims {
  const seen = { claims: 0, wholeClaims: 0 }
  return {
    seen: () => ({ ...seen }),
    check({ eventId, path, where }, { body }) {
      const nowMs = Date.now()
      const asOfMs = Date.parse(body.meta.asOf ?? '')
      if (Number.isNaN(asOfMs)) return
      if (asOfMs > nowMs)
        wrongs.add('asOf is never later than the clock', `${where}: ${asOfMs - nowMs} ms later`)

      const settledMs = journal.settledMs(eventId)
      if (settledMs < asOfMs && settledMs < nowMs - restMs) {
        const expected = book.answers(eventId).find(one => one.path === path)
        if (expected === undefined) return
        seen.wholeClaims++
        const difference = differenceOf(expected, { status: 200, body })
        if (difference !== undefined)
          wrongs.add(
            'an answer contains what was acknowledged before its asOf',
            `${where} claims all up to ${body.meta.asOf}, the last record was acknowledged at ${iso(settledMs)}: ${difference}`,
          )
        return
      }
      const order = /^\/orders\/([^/?]+)$/.exec(path)?.[1]
      if (order !== undefined) {
        seen.claims++
        if (!journal.mayShow(eventId, order, asOfMs, body.data))
          wrongs.add(
            'an answer contains what was acknowledged before its asOf',
            `${where} claims all up to ${body.meta.asOf} and shows ${JSON.stringify(body.data)}`,
          )
        return
      }
      const said = totalsOf(path, body)
      if (said.length === 0 || journal.unsure(eventId, asOfMs) > mostUnsure) return
      seen.claims++
      for (const { total, value } of said) {
        const { least, most } = journal.bounds(eventId, asOfMs, total, body.meta.dayId)
        if (value < least || value > most)
          wrongs.add(
            'an answer contains what was acknowledged before its asOf',
            `${where} claims all up to ${body.meta.asOf}: ${total} is ${value}, must be ${least} to ${most}`,
          )
      }
    },
  }
}

type Said = { total: Total; value: number }
// biome-ignore lint/suspicious/noExplicitAny: whatever the service sent
type Body = any

/** The totals that an answer gives for an event as a whole, or for its day. */
function totalsOf(path: string, { data, meta }: Body): Said[] {
  const [view = '', query = ''] = path.split('?')
  const sum = (name: string) =>
    data.reduce((total: number, row: Record<string, number>) => total + (row[name] ?? 0), 0)
  if (view === '/orders')
    return [
      {
        total: query.includes('status=Cancelled') ? 'cancelled' : 'listed',
        value: meta.pagination.totalCount,
      },
    ]
  if (meta.dayId == null) return []
  if (view === '/analytics/kpis')
    return [
      { total: 'orders', value: data.totalOrders },
      { total: 'cents', value: Math.round(data.totalSales * 100) },
      { total: 'items', value: data.totalItemsSold },
    ]
  if (view === '/analytics/orders/by-hour')
    return [
      { total: 'orders', value: sum('orderCount') },
      { total: 'cents', value: Math.round(sum('revenue') * 100) },
    ]
  return view === '/live/item-counts' ? [{ total: 'items', value: sum('quantitySold') }] : []
}

const iso = (ms: number) => new Date(ms).toISOString()
