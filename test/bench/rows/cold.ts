import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Row, ratioAtLeast } from '../run/row.ts'
import { countAll } from '../tally/countAll.ts'

/** The first records of a new process, before its code is compiled and its heap has grown, against its last ones. */
export const cold: Row = {
  name: 'cold',
  about: 'the first 100,000 records of a new projector against its own rate over the last 150,000',
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('usual', () => evenShape(seed, orders))
    const first = Math.floor(data.total / 3)
    const last = Math.floor(data.total / 2)
    const { process } = await alternate(bench, 'cold', { process: () => bothRates(bench, data, first, last) })
    const figure = (name: 'cold' | 'warm', records: number) =>
      measured(
        process,
        name,
        `${name === 'cold' ? 'first' : 'last'} ${records.toLocaleString('en')} records`,
        'records/s',
      )
    return {
      lines: [
        { row: 'cold', ours: figure('cold', first), against: figure('warm', last), goal: ratioAtLeast(0.8) },
      ],
    }
  },
}

function bothRates(bench: Bench, data: Preloaded, first: number, last: number): Promise<Sample> {
  return countAll(bench, data, async ({ tally, at }) => {
    await tally.check()
    return {
      cold: (first * 1000) / (at(first) - tally.assignedAtMs),
      warm: (last * 1000) / (at(data.total) - at(data.total - last)),
    }
  })
}
