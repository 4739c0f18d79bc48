import { evenShape } from '../data/shape.ts'
import { median } from '../figures.ts'
import type { Row } from '../row.ts'
import { alternate, measured } from '../rounds.ts'
import { projectAll } from './projector.ts'

/** The same rate at 2,000,000 orders as at 100,000; without --large at four times the orders. */
export const growth: Row = {
  name: 'growth',
  about: 'the projector at 2,000,000 orders (--large; else 400,000) against itself at 100,000',
  async run(bench) {
    const { orders, seed, large } = bench.options
    const small = Math.ceil(orders / 2)
    const big = large ? orders * 10 : orders * 2
    const smallData = await bench.data('small', () => evenShape(seed, small))
    const bigData = await bench.data('big', () => evenShape(seed, big))
    const samples = await alternate(bench, 'growth', {
      [small]: () => projectAll(bench, smallData),
      [big]: () => projectAll(bench, bigData),
    })
    const figure = (size: number) =>
      measured(samples[size] ?? [], 'rate', `${size.toLocaleString('en')} orders`, 'records/s')
    return {
      lines: [
        {
          row: 'growth',
          ours: figure(big),
          against: figure(small),
          goal: { of: 'ratio', bound: 'at least', value: 0.9 },
        },
      ],
      points: [small, big].map(size => ({
        panel: 'rate',
        series: 'projector (records/s)',
        orders: size,
        value: median(figure(size).rounds),
      })),
      notes: large
        ? []
        : [`growth: the goal is for 2,000,000 orders (--large), this was ${big.toLocaleString('en')}`],
    }
  },
}
