import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, ratioAtLeast } from '../run/row.ts'
import { countAll } from '../tally/countAll.ts'

/**
 * The same rate at 2,000,000 orders as at 100,000. Both sizes are measured over their last records, and as many of
 * them: over all of them the long run would hide in its average what it costs that the tables are full, and that the
 * short one spends half of its time warming up.
 */
export const growth: Row = {
  name: 'growth',
  about: 'the projector at 2,000,000 orders (--large; else 400,000) against itself at 100,000',
  async run(bench) {
    const { orders, seed, large } = bench.options
    const small = Math.ceil(orders / 2)
    const big = large ? orders * 10 : orders * 2
    const smallData = await bench.data('small', () => evenShape(seed, small))
    const bigData = await bench.data('big', () => evenShape(seed, big))
    const last = Math.floor((smallData.total * 2) / 3)
    const samples = await alternate(bench, 'growth', {
      [small]: () => lastRecords(bench, smallData, last),
      [big]: () => lastRecords(bench, bigData, last),
    })
    bench.forget('small', 'big')
    const figure = (size: number, name: 'rate' | 'whole' = 'rate') => {
      const which = name === 'rate' ? `last ${last.toLocaleString('en')} records` : 'all records'
      return measured(samples[size] ?? [], name, `${size.toLocaleString('en')} orders, ${which}`, 'records/s')
    }
    return {
      lines: [
        { row: 'growth', ours: figure(big), against: figure(small), goal: ratioAtLeast(0.9) },
        { row: 'growth', ours: figure(big, 'whole'), against: figure(small, 'whole') },
      ],
      notes: large
        ? []
        : [`growth: the goal is for 2,000,000 orders (--large), this was ${big.toLocaleString('en')}`],
    }
  },
}

/** One projector over everything: `rate` of the last records, `whole` of all of them. */
function lastRecords(bench: Bench, data: Preloaded, last: number): Promise<Sample> {
  return countAll(bench, data, async ({ tally, answeredAtMs, at }) => {
    await tally.check()
    return {
      rate: (last * 1000) / (answeredAtMs - at(data.total - last)),
      whole: (data.total * 1000) / (answeredAtMs - tally.assignedAtMs),
    }
  })
}
