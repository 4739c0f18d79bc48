import type { Bench } from '../run/bench.ts'
import { alternate, measured } from '../run/rounds.ts'
import { type Line, type Result, ratioAtLeast, ratioAtMost } from '../run/row.ts'
import type { Load } from '../run/wrk.ts'

type Side = 'tally' | 'ceiling'
type Compared = {
  row: string
  atLeast: number
  p99AtMost?: number
  connectionCounts?: number[]
  tally?: string
}

/** Puts the same load on Tally and on the ceiling in turn, at each number of connections; compares rate and p99. */
export async function besideCeiling(
  bench: Bench,
  { row, atLeast, p99AtMost = 1, connectionCounts = [64, 1_000], tally = 'tally query' }: Compared,
  put: (side: Side, connections: number) => Promise<Pick<Load, 'rate' | 'median' | 'p99'>>,
): Promise<Result> {
  const measure = (side: Side, connections: number) => async () => {
    const { rate, median, p99 } = await put(side, connections)
    return { rate, median, p99 }
  }
  const samples = await alternate(
    bench,
    row,
    Object.fromEntries(
      connectionCounts.flatMap(connections => [
        [`tally ${connections}`, measure('tally', connections)],
        [`ceiling ${connections}`, measure('ceiling', connections)],
      ]),
    ),
  )
  const names = { tally, ceiling: 'fastify, one Redis GET' }
  const figure = (side: Side, connections: number, what: 'rate' | 'p99') => {
    const name = `${names[side]}, ${connections.toLocaleString('en')} connections`
    return measured(
      samples[`${side} ${connections}`] ?? [],
      what,
      name,
      what === 'rate' ? 'requests/s' : 'ms',
    )
  }
  const line = (connections: number, what: 'rate' | 'p99') => ({
    row: what === 'rate' ? row : `${row} p99`,
    ours: figure('tally', connections, what),
    against: figure('ceiling', connections, what),
  })
  return {
    lines: connectionCounts.flatMap((connections): Line[] => [
      { ...line(connections, 'rate'), goal: ratioAtLeast(atLeast) },
      { ...line(connections, 'p99'), goal: ratioAtMost(p99AtMost) },
    ]),
  }
}
