import { endpoints } from '@tally/contract'
import { expect } from 'vitest'
import type { Tally } from '../processes/tally.ts'
import type { EventOracle } from './event.ts'
import type { Oracle } from './oracle.ts'

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
  const scopes = days.flatMap(dayId => areas.map(areaId => ({ dayId, areaId })))
  const perScope = scopes.flatMap(({ dayId, areaId }): Question[] => {
    const query = queryOf({ dayId, areaId })
    const meta = { dayId: dayId ?? expected.defaultDay }
    const analytics = `${base}/analytics`
    return [
      {
        endpoint: 'getKpis',
        path: `${analytics}/kpis${query}`,
        data: expected.kpis({ dayId, areaId }),
        meta,
      },
      {
        endpoint: 'getOrdersByHour',
        path: `${analytics}/orders/by-hour${query}`,
        data: expected.byHour({ dayId, areaId }),
        meta,
      },
      {
        endpoint: 'getTopItems',
        path: `${analytics}/orders/top-items${query}`,
        data: expected.topItems({ dayId, areaId }),
        meta,
      },
      {
        endpoint: 'getTopItems',
        path: `${analytics}/orders/top-items${queryOf({ dayId, areaId, limit: 1 })}`,
        data: expected.topItems({ dayId, areaId }, 1),
        meta,
      },
    ]
  })
  const perDay = days.flatMap((dayId): Question[] => {
    const meta = { dayId: dayId ?? expected.defaultDay }
    const menuItemIds = expected.menuItemIds.length > 0 ? expected.menuItemIds.toReversed() : undefined
    return [
      {
        endpoint: 'getItemCounts',
        path: `${base}/live/item-counts${queryOf({ dayId })}`,
        data: expected.itemCounts(dayId),
        meta,
      },
      {
        endpoint: 'getItemCounts',
        path: `${base}/live/item-counts${queryOf({ dayId, menuItemIds: menuItemIds?.join(',') })}`,
        data: expected.itemCounts(dayId, menuItemIds),
        meta,
      },
    ]
  })
  const trends = areas.flatMap(areaId =>
    [undefined, 1, 365].map(
      (count): Question => ({
        endpoint: 'getSalesTrend',
        path: `${base}/analytics/sales-trend${queryOf({ days: count, areaId })}`,
        data: expected.salesTrend(count, areaId),
      }),
    ),
  )
  const lists = [
    {},
    ...expected.dayIds.map(dayId => ({ dayId })),
    ...expected.areaIds.map(areaId => ({ areaId })),
    ...statuses.map(status => ({ status })),
  ]
  const orders = lists.flatMap(filter => {
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
  const details = expected.allOrders.slice(0, 20).map(
    (order): Question => ({
      endpoint: 'getOrder',
      path: `${base}/orders/${encodeURIComponent(order.id)}`,
      data: order,
    }),
  )
  return [
    { endpoint: 'getEvent', path: base, data: expected.detail },
    ...perScope,
    ...perDay,
    ...trends,
    ...orders,
    ...details,
  ]
}

/**
 * A query process lets a read of one organization wait only briefly: of hundreds at once, a busy machine would refuse
 * the last.
 */
const askedAtOnce = 8

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
  const { status, body } = await tally.get(path, { token })
  expect({ path, status, data: body?.data }).toEqual({ path, status: 200, data })
  expect({ path, meta: body.meta }).toEqual({
    path,
    meta: { generatedAt: expect.any(String), eventId, asOf: expect.any(String), ...meta },
  })
  // The schema drops what it does not name: an answer that it changes has a field too many.
  expect(endpoints[endpoint].answer.parse(body)).toEqual(body)
}

/** The query string of the parameters that have a value. */
export function queryOf(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${String(value)}`).join('&')}`
}
