import { topicNames } from '@tally/kafka'
import { sql } from 'kysely'
import type { Preloaded } from '../data/preload.ts'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { startCeiling } from '../run/ceiling.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Line, type Row, ratioAtLeast } from '../run/row.ts'
import { withTally } from '../tally/tally.ts'

/** Records per second from the moment a process has its partitions until all is answered, or stored. */
export const projector: Row = {
  name: 'projector',
  about:
    'records/s from a preloaded topic until everything is answered, against the same client and a bulk insert',
  async run(bench) {
    const { orders, seed, large } = bench.options
    const data = await bench.data('usual', () => evenShape(seed, orders))
    const usual = await alternate(bench, 'projector', besideInsert(bench, data))
    const lines: Line[] = [lineOf(usual, data, 0.75)]
    if (!large) return { lines }
    // The data of growth, which comes next and forgets it.
    const bigData = await bench.data('big', () => evenShape(seed, orders * 10))
    const big = await alternate(bench, 'projector', besideInsert(bench, bigData))
    return { lines: [...lines, lineOf(big, bigData, 0.9)] }
  },
}

const besideInsert = (bench: Bench, data: Preloaded) => ({
  tally: () => projectAll(bench, data),
  insert: () => insertAll(bench, data),
})

function lineOf({ tally, insert }: Record<'tally' | 'insert', Sample[]>, data: Preloaded, atLeast: number) {
  const what = `tally projector, ${data.total.toLocaleString('en')} records`
  return {
    row: 'projector',
    ours: measured(tally, 'rate', what, 'records/s'),
    against: measured(insert, 'rate', 'kafkajs, parse, bulk insert', 'records/s'),
    goal: ratioAtLeast(atLeast),
  } satisfies Line
}

/** One tally projector over a fresh group and database; checks all answers before it returns the rate. */
export const projectAll = (bench: Bench, data: Preloaded): Promise<Sample> =>
  withTally(bench, data, async tally => {
    const answeredAtMs = await tally.untilAnswered()
    await tally.check()
    return { rate: (data.total * 1000) / (answeredAtMs - tally.assignedAtMs) }
  })

async function insertAll(bench: Bench, data: Preloaded): Promise<Sample> {
  const database = await bench.newDatabase()
  const { organizations, events, orders, refunds } = topicNames(data.topicPrefix)
  const ceiling = startCeiling(bench, 'bulkInsert', {
    KAFKA_BROKERS: bench.servers.kafkaBrokers,
    KAFKA_GROUP_ID: `ceiling-${bench.nextNumber()}`,
    DATABASE_URL: database.url,
    TOPICS: [organizations, events, orders, refunds].join(','),
    ORDERS_TOPIC: orders,
    EXPECTED: String(data.total),
  })
  try {
    await bench.settleServers()
    const assigned = await ceiling.message('assigned')
    const done = await ceiling.message('done')
    const { rows } = await sql<{ count: number }>`select count(*) from orders`.execute(database.db)
    if (rows[0]?.count !== data.count.orders())
      throw new Error(`the bulk insert stored ${rows[0]?.count} orders, not ${data.count.orders()}`)
    return { rate: (data.total * 1000) / (done.ms - assigned.ms) }
  } finally {
    await ceiling.stop()
    await database.drop()
  }
}
