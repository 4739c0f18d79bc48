import { alternate, measured } from '../run/rounds.ts'
import { type Row, ratioAtLeast } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { sized } from '../tally/sized.ts'
import { sameAnswer } from './sameAnswer.ts'

/** The hot endpoint of a huge event must cost what it costs of a small one. */
export const hotSize: Row = {
  name: 'hot-size',
  about: 'item counts of an event of 1,000,000 orders against one of 1,000',
  shares: sized,
  needsWrk: true,
  async run(bench) {
    const { tally, data, events } = await sized.get(bench)
    const urls = events.map(({ eventId, orders }) => {
      const [, expected] = data.count.lastAnswers(eventId)
      return { eventId, orders, url: tally.addressOf(eventId) + expected?.path, data: expected?.data }
    })
    for (const { url, eventId, data } of urls) await sameAnswer(url, tally.tokenOf(eventId), data)
    const samples = await alternate(
      bench,
      'hot-size',
      Object.fromEntries(
        urls.map(({ url, eventId, orders }) => [
          orders,
          () => putOneQuestion(bench, { url, token: tally.tokenOf(eventId) }),
        ]),
      ),
    )
    const sizes = events.map(({ orders }) => orders)
    const [least = 0, most = 0] = [sizes[0], sizes.at(-1)]
    const figure = (orders: number, what: 'rate' | 'p99') => {
      const name = `item counts at ${orders.toLocaleString('en')} orders`
      return measured(samples[orders] ?? [], what, name, what === 'rate' ? 'requests/s' : 'ms')
    }
    return {
      lines: [
        {
          row: 'hot-size',
          ours: figure(most, 'rate'),
          against: figure(least, 'rate'),
          goal: ratioAtLeast(0.95),
        },
        { row: 'hot-size p99', ours: figure(most, 'p99'), against: figure(least, 'p99') },
      ],
    }
  },
}
