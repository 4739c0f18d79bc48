import { isDeepStrictEqual } from 'node:util'
import { alternate, measured } from '../run/rounds.ts'
import { type Row, valueAtMost } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { type Sized, sized } from '../tally/sized.ts'

/** The most the API gives on a page, and so the hardest. */
const pageSize = 100

/** Page 1, and page 5,000 of 10,000 (of smaller events the page in the middle), asked one after the other. */
export const orderList: Row = {
  name: 'order-list',
  about: 'page 1 and page 5,000 of the order list of an event of 1,000,000 orders, 100 a page',
  shares: sized,
  needsWrk: true,
  async run(bench) {
    const use = await sized.get(bench)
    const { tally, events } = use
    const pages = events.flatMap(({ eventId, orders }) =>
      (['first', 'middle'] as const).map(which => {
        const page = which === 'first' ? 1 : Math.max(1, Math.floor(orders / pageSize / 2))
        return { eventId, orders, which, page, name: `${which} page of ${orders}` }
      }),
    )
    for (const { eventId, page } of pages) await checkPage(use, eventId, page)
    const samples = await alternate(
      bench,
      'order-list',
      Object.fromEntries(
        pages.map(({ eventId, page, name }) => {
          const url = `${tally.addressOf(eventId)}/orders?page=${page}&pageSize=${pageSize}`
          return [name, () => putOneQuestion(bench, { url, token: tally.tokenOf(eventId), connections: 1 })]
        }),
      ),
    )
    const most = events.at(-1)?.orders
    const ofMost = pages.filter(({ orders }) => orders === most)
    return {
      lines: ofMost.flatMap(({ name, page, which }) => {
        const what = `page ${page.toLocaleString('en')}, ${most?.toLocaleString('en')} orders`
        return [
          {
            row: 'order-list p99',
            ours: measured(samples[name] ?? [], 'p99', what, 'ms'),
            goal: valueAtMost(which === 'first' ? 10 : 60),
          },
          { row: 'order-list median', ours: measured(samples[name] ?? [], 'median', what, 'ms') },
        ] as const
      }),
      notes: [`order-list: ${pageSize} orders a page, one request after the other over one connection`],
    }
  },
}

/** Compares a page's ids, in their order, and the total with the count. */
async function checkPage({ tally, data }: Sized, eventId: string, page: number): Promise<void> {
  const listed = data.count.listed(eventId)
  const url = `${tally.addressOf(eventId)}/orders?page=${page}&pageSize=${pageSize}`
  const reply = await fetch(url, { headers: { 'X-Api-Key': tally.tokenOf(eventId) } })
  const body = (await reply.json()) as {
    data: { id: string }[]
    meta: { pagination: { totalCount: number } }
  }
  const said = { ids: body.data?.map(({ id }) => id), total: body.meta?.pagination?.totalCount }
  const expected = { ids: listed.slice((page - 1) * pageSize, page * pageSize), total: listed.length }
  if (!isDeepStrictEqual(said, expected)) throw new Error(`a wrong page, so there is no figure: ${url}`)
}
