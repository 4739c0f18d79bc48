import { orderStatuses } from '@tally/contract'
import { hourIn } from '@tally/figures'
import { anyZone } from '@tally/testkit/records/instants'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { recordSet } from '../test/arbitraries.ts'
import { bruteForce } from '../test/bruteForce.ts'
import { type Counted, counted, type GoodRecord } from '../test/counted.ts'

/** Splits a list into batches after the records that `cuts` says. */
function split(records: GoodRecord[], cuts: boolean[]): GoodRecord[][] {
  const batches: GoodRecord[][] = [[]]
  records.forEach((record, index) => {
    batches.at(-1)?.push(record)
    if (cuts[index % cuts.length] === true) batches.push([])
  })
  return batches
}

const arrival = fc
  .tuple(recordSet, anyZone, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }))
  .chain(([records, zone, cuts]) =>
    fc.record({
      records: fc.constant(records),
      zone: fc.constant(zone),
      cuts: fc.constant(cuts),
      shuffled: fc.shuffledSubarray([...records, ...records], { minLength: records.length * 2 }),
    }),
  )

test('records counted once, twice, shuffled and in any batches are what a brute-force sum says', () => {
  fc.assert(
    fc.property(arrival, ({ records, zone, cuts, shuffled }) => {
      const expected = bruteForce(records, zone)
      const hourOf = hourIn(zone)
      expect(counted([records], hourOf), 'once').toEqual(expected)
      expect(counted([records, records], hourOf), 'twice').toEqual(expected)
      expect(counted(split(shuffled, cuts), hourOf), 'shuffled, doubled, in batches').toEqual(expected)
    }),
    { numRuns: 400 },
  )
})

test('hours, payment methods and order buckets add up to the day, areas to all areas, and items to what the day sold', () => {
  fc.assert(
    fc.property(recordSet, anyZone, (records, zone) => {
      const totals = counted([records], hourIn(zone))
      for (const day of [41, 42]) {
        for (const area of [0, 1, 2]) {
          const at = `${day}/${area}/`
          expect(sumOf(totals, at, /hour\d+\/salesCents$/)).toBe(totals[`${at}salesCents`] ?? 0)
          expect(sumOf(totals, at, /hour\d+\/orders$/)).toBe(
            sumOf(totals, at, /^\d+\/\d+\/(Paid|Preparing|ReadyForPickup|Completed)$/),
          )
          expect(sumOf(totals, at, /method[^/]*\/salesCents$/)).toBe(totals[`${at}salesCents`] ?? 0)
          expect(sumOf(totals, at, /method[^/]*\/orders$/)).toBe(sumOf(totals, at, /hour\d+\/orders$/))
          expect(sumOf(totals, at, /\/quantity$/) - sumOf(totals, at, /refundedQuantity$/)).toBe(
            totals[`${at}itemsSold`] ?? 0,
          )
          for (const status of area === 0 ? [] : orderStatuses)
            expect(sumOf(totals, at, new RegExp(`/order_bucket\\d+/${status}$`))).toBe(
              totals[`${at}${status}`] ?? 0,
            )
        }
        const of = (area: number, what: string) => totals[`${day}/${area}/${what}`] ?? 0
        for (const name of Object.keys(totals)) {
          const [, , ...what] = name.split('/')
          if (what[0]?.startsWith('order_bucket')) continue
          const amount = what.join('/')
          expect(of(1, amount) + of(2, amount), amount).toBe(of(0, amount))
        }
      }
    }),
    { numRuns: 200 },
  )
})

function sumOf(totals: Counted, at: string, what: RegExp): number {
  return Object.entries(totals).reduce(
    (sum, [name, amount]) => (name.startsWith(at) && what.test(name) ? sum + amount : sum),
    0,
  )
}
