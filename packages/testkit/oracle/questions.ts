import { isDeepStrictEqual } from 'node:util'
import { type EndpointName, endpoints } from '@tally/contract'
import { expect } from 'vitest'
import type { Reply } from '../processes/http.ts'
import type { Tally } from '../processes/tally.ts'
import { until } from '../until.ts'
import type { EventOracle } from './event.ts'
import type { Oracle } from './oracle.ts'
import { queryOf } from './words.ts'

/** A path below an event's, and what its answer must say. */
export type Asked = { path: string; data: unknown; meta?: Record<string, unknown> }
export type Question = Asked & { endpoint: EndpointName }

const statuses = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled']

/** What can be asked of each endpoint about an event, as a path below the event's, with the oracle's answer. */
export const questions: Record<Exclude<EndpointName, 'listEvents'>, (expected: EventOracle) => Asked[]> = {
  getEvent: ({ detail }) => [{ path: '', data: detail }],
  getKpis: expected =>
    daysAndAreas(expected).map(scope => ({
      path: `/analytics/kpis${queryOf(scope)}`,
      data: expected.kpis(scope),
      meta: dayMeta(expected, scope),
    })),
  getSalesTrend: expected =>
    [undefined, ...expected.areaIds].flatMap(areaId =>
      [undefined, 1, 365].map(days => ({
        path: `/analytics/sales-trend${queryOf({ days, areaId })}`,
        data: expected.salesTrend(days, areaId),
      })),
    ),
  getOrdersByHour: expected =>
    daysAndAreas(expected).map(scope => ({
      path: `/analytics/orders/by-hour${queryOf(scope)}`,
      data: expected.byHour(scope),
      meta: dayMeta(expected, scope),
    })),
  getTopItems: expected =>
    daysAndAreas(expected).flatMap(scope =>
      [undefined, 1, 100].map(limit => ({
        path: `/analytics/orders/top-items${queryOf({ ...scope, limit })}`,
        data: expected.topItems(scope, limit),
        meta: dayMeta(expected, scope),
      })),
    ),
  getItemCounts: expected => {
    const all = expected.menuItemIds.length > 0 ? expected.menuItemIds.toReversed() : undefined
    return [undefined, ...expected.dayIds].flatMap(dayId =>
      [undefined, all].map(menuItemIds => ({
        path: `/live/item-counts${queryOf({ dayId, menuItemIds: menuItemIds?.join(',') })}`,
        data: expected.itemCounts(dayId, menuItemIds),
        meta: dayMeta(expected, { dayId }),
      })),
    )
  },
  listOrders: expected => {
    const filters = [
      {},
      ...expected.dayIds.map(dayId => ({ dayId })),
      ...expected.areaIds.map(areaId => ({ areaId })),
      ...statuses.map(status => ({ status })),
    ]
    return filters.flatMap(filter => {
      const found = expected.orders(filter)
      const pageOf = (page: number, pageSize: number): Asked => {
        const totalPages = Math.ceil(found.length / pageSize)
        const data = found.slice((page - 1) * pageSize, page * pageSize)
        const pagination = { page, pageSize, totalCount: found.length, totalPages }
        return { path: `/orders${queryOf({ ...filter, page, pageSize })}`, data, meta: { pagination } }
      }
      return [pageOf(1, 100), pageOf(2, 7), pageOf(Math.max(1, Math.ceil(found.length / 7)), 7)]
    })
  },
  getOrder: expected =>
    expected
      .allOrders()
      .slice(0, 20)
      .map(order => ({ path: `/orders/${encodeURIComponent(order.id)}`, data: order })),
}

/** Every question that can be asked about an event, each with the oracle's answer. */
export function questionsOf(eventId: string, expected: EventOracle): Question[] {
  return Object.entries(questions).flatMap(([endpoint, asked]) =>
    asked(expected).map(question => ({
      ...question,
      endpoint: endpoint as EndpointName,
      path: `/api/v1/events/${eventId}${question.path}`,
    })),
  )
}

const daysAndAreas = ({ dayIds, areaIds }: EventOracle) =>
  [undefined, ...dayIds].flatMap(dayId => [undefined, ...areaIds].map(areaId => ({ dayId, areaId })))

const dayMeta = ({ defaultDay }: EventOracle, { dayId }: { dayId: number | undefined }) => ({
  dayId: dayId ?? defaultDay,
})

/** A query process lets reads of an organization wait only briefly: a busy machine would refuse some of hundreds. */
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

/** Any answer but the 503 of a query process that waits for Postgres, as on a busy machine: that is asked again. */
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
