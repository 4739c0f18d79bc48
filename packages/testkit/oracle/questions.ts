import { isDeepStrictEqual } from 'node:util'
import { endpoints } from '@tally/contract'
import { expect } from 'vitest'
import type { Reply } from '../processes/http.ts'
import type { Tally } from '../processes/tally.ts'
import { until } from '../until.ts'
import type { EventOracle } from './event.ts'
import type { Oracle } from './oracle.ts'
import { queryOf } from './words.ts'

export type Question = {
  endpoint: keyof typeof endpoints
  path: string
  data: unknown
  meta?: Record<string, unknown>
}

const statuses = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled']

/** Every question that can be asked about an event, each with the oracle's answer. */
export function questionsOf(eventId: string, expected: EventOracle): Question[] {
  const base = `/api/v1/events/${eventId}`
  const areas = [undefined, ...expected.areaIds]
  const days = [undefined, ...expected.dayIds]
  return [
    { endpoint: 'getEvent', path: base, data: expected.detail },
    ...days.flatMap(dayId => areas.flatMap(areaId => figuresOf(base, expected, { dayId, areaId }))),
    ...days.flatMap(dayId => itemCountsOf(base, expected, dayId)),
    ...areas.flatMap(areaId => trendsOf(base, expected, areaId)),
    ...listsOf(base, expected),
    ...detailsOf(base, expected),
  ]
}

type Scope = { dayId: number | undefined; areaId: number | undefined }

function figuresOf(base: string, expected: EventOracle, scope: Scope): Question[] {
  const analytics = `${base}/analytics`
  const query = queryOf(scope)
  const meta = { dayId: scope.dayId ?? expected.defaultDay }
  return [
    { endpoint: 'getKpis', path: `${analytics}/kpis${query}`, data: expected.kpis(scope), meta },
    {
      endpoint: 'getOrdersByHour',
      path: `${analytics}/orders/by-hour${query}`,
      data: expected.byHour(scope),
      meta,
    },
    ...[undefined, 1].map(
      (limit): Question => ({
        endpoint: 'getTopItems',
        path: `${analytics}/orders/top-items${queryOf({ ...scope, limit })}`,
        data: expected.topItems(scope, limit),
        meta,
      }),
    ),
  ]
}

function itemCountsOf(base: string, expected: EventOracle, dayId: number | undefined): Question[] {
  const meta = { dayId: dayId ?? expected.defaultDay }
  const all = expected.menuItemIds.length > 0 ? expected.menuItemIds.toReversed() : undefined
  return [undefined, all].map(
    (menuItemIds): Question => ({
      endpoint: 'getItemCounts',
      path: `${base}/live/item-counts${queryOf({ dayId, menuItemIds: menuItemIds?.join(',') })}`,
      data: expected.itemCounts(dayId, menuItemIds),
      meta,
    }),
  )
}

function trendsOf(base: string, expected: EventOracle, areaId: number | undefined): Question[] {
  return [undefined, 1, 365].map(
    (days): Question => ({
      endpoint: 'getSalesTrend',
      path: `${base}/analytics/sales-trend${queryOf({ days, areaId })}`,
      data: expected.salesTrend(days, areaId),
    }),
  )
}

function listsOf(base: string, expected: EventOracle): Question[] {
  const filters = [
    {},
    ...expected.dayIds.map(dayId => ({ dayId })),
    ...expected.areaIds.map(areaId => ({ areaId })),
    ...statuses.map(status => ({ status })),
  ]
  return filters.flatMap(filter => {
    const found = expected.orders(filter)
    const pageOf = (page: number, pageSize: number): Question => {
      const totalPages = Math.ceil(found.length / pageSize)
      const path = `${base}/orders${queryOf({ ...filter, page, pageSize })}`
      const data = found.slice((page - 1) * pageSize, page * pageSize)
      const pagination = { page, pageSize, totalCount: found.length, totalPages }
      return { endpoint: 'listOrders', path, data, meta: { pagination } }
    }
    return [pageOf(1, 100), pageOf(2, 7), pageOf(Math.max(1, Math.ceil(found.length / 7)), 7)]
  })
}

function detailsOf(base: string, expected: EventOracle): Question[] {
  return expected
    .allOrders()
    .slice(0, 20)
    .map(
      (order): Question => ({
        endpoint: 'getOrder',
        path: `${base}/orders/${encodeURIComponent(order.id)}`,
        data: order,
      }),
    )
}

/**
 * A query process lets a read of one organization wait only briefly: of hundreds at once, a busy machine would refuse
 * the last.
 */
const askedAtOnce = 4

/** Asks every question about an event and compares each whole answer with the contract and with the oracle. */
export async function expectAllAnswers(
  tally: Tally,
  eventId: string,
  expected: Oracle,
  token: string,
): Promise<void> {
  const left = questionsOf(eventId, expected.event(eventId)).values()
  const askOn = async () => {
    for (const question of left) await expectAnswer(tally, eventId, question, token)
  }
  await Promise.all(Array.from({ length: askedAtOnce }, askOn))
}

export async function expectAnswer(
  tally: Tally,
  eventId: string,
  { endpoint, path, data, meta = {} }: Question,
  token: string,
) {
  const { status, body } = await getWhenFree(tally, path, token)
  expectEqual({ path, status, data: body?.data }, { path, status: 200, data })
  // That these are times, the schema says.
  const { generatedAt, asOf } = body.meta
  expectEqual({ path, meta: body.meta }, { path, meta: { generatedAt, eventId, asOf, ...meta } })
  // The schema drops what it does not name: an answer that it changes has a field too many.
  expectEqual(endpoints[endpoint].answer.parse(body), body)
}

/**
 * An answer other than the 503 of a query process that has too many reads waiting for Postgres, as on a machine that
 * has other work: whoever gets it is to ask again.
 */
export async function getWhenFree(tally: Tally, path: string, token: string, query = 0): Promise<Reply> {
  const replies: Reply[] = []
  await until(`${path} is not refused with a 503`, async () => {
    const reply = await tally.get(path, { token, query })
    return reply.status !== 503 && replies.push(reply) > 0
  })
  return replies[0] as Reply
}

/** As toEqual, which takes four times as long, and is needed only to say what differs. */
function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}
