import { inside, topicNames } from '@tally/kafka'
import { sql } from 'kysely'
import { type DataSet, sendAll } from '../data/preload.ts'
import { evenShape, partitionsOf } from '../data/shape.ts'
import { openYears } from '../data/years.ts'
import type { Bench, Database } from '../run/bench.ts'
import { measured, type Sample } from '../run/rounds.ts'
import type { Line, Row } from '../run/row.ts'
import { firstAnswers, latencies } from '../tally/latencies.ts'
import { momentOf, watchProgress } from '../tally/progress.ts'
import { removeBefore } from '../tally/removal.ts'
import { tableLines } from '../tally/tables.ts'
import { startTally } from '../tally/tally.ts'

const firstYear = 2016
const numberOfYears = 10
const removedYears = 2
const weekends = 50
const eventsOfAWeekend = 10

/**
 * Ten years of festivals, one after the other: each comes from topics of its own, while nothing of the years before is
 * left in Redis, as if it had expired. Then the first two are removed while Tally runs, and an eleventh follows.
 */
export const years: Row = {
  name: 'years',
  about: 'ten years of 500 events and --orders orders each: the tenth against the first',
  needsWrk: true,
  onlyIfNamed: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const weekend = evenShape(seed + 12, Math.ceil(orders / weekends), eventsOfAWeekend)
    const yearOf = openYears({ ...weekend, days: 3, menuItems: 40 })
    const database = await bench.newDatabase()
    const notes = [`years: ${orders.toLocaleString('en')} orders a year, measured once`]
    const note = (text: string) => {
      bench.log(`years: ${text}`)
      notes.push(`years: ${text}`)
    }
    const sent: SentYear[] = []
    const samples: Sample[] = []
    try {
      for (let number = 1; number <= numberOfYears + 1; number++) {
        const { count, records } = yearOf(firstYear + number - 1, weekends)
        const topics = { topicPrefix: `bench-year-${number}`, partitions: partitionsOf(weekend) }
        sent.push({ ...topics, count, total: await sendAll(bench.kafka, topics, records()) })
        samples.push(await ofYear(bench, database, { sent, note }))
        bench.log(`years: year ${number}: ${JSON.stringify(samples.at(-1))}`)
      }
    } finally {
      await database.drop()
    }
    return { lines: linesOf(samples), notes }
  },
}

type SentYear = DataSet & { total: number }
/** The years up to the one that is measured, which was sent last, and where sentences about them go. */
type Course = { sent: SentYear[]; note: (text: string) => void }

/**
 * Applies a year. In the first and the tenth it asks about an event of the year, in the tenth also about events of the
 * first, which it then removes. In the end a year passes.
 */
async function ofYear(bench: Bench, database: Database, { sent, note }: Course): Promise<Sample> {
  const number = sent.length
  const [first, year] = [sent[0] as SentYear, sent[number - 1] as SentYear]
  const tally = await startTally(bench, year, database)
  const progress = watchProgress(database.db, year)
  try {
    await tally.untilAnswered()
    const applied = await progress.stop()
    const last = Math.floor((year.total * 2) / 3)
    const rate = (last * 1000) / (momentOf(applied, year.total) - momentOf(applied, year.total - last))
    for (const line of await tableLines(bench, database.db)) note(`after year ${number}: ${line}`)
    if (number !== 1 && number !== numberOfYears) return { rate }
    await tally.check()
    const live = named('live', await latencies(bench, tally, year.count.eventIds()[0] ?? ''))
    if (number === 1) return { rate, ...live }
    const expired = await firstAnswers(bench, tally, first.count)
    const old = named('old', await latencies(bench, tally, first.count.eventIds()[0] ?? ''))
    const counts = sent.map(({ count }) => count)
    const [removed, left] = [counts.slice(0, removedYears), counts.slice(removedYears)]
    await removeBefore(bench, tally, { calendarYear: firstYear + removedYears, removed, left, note })
    return { rate, ...live, ...expired, ...old }
  } finally {
    await progress.stop()
    await tally.stop()
    await sql`update event_heads set changed_at = changed_at - interval '1 year'`.execute(database.db)
    const topics = Object.values(topicNames(year.topicPrefix))
    await inside(bench.kafka).admin.use(admin => admin.deleteTopics({ topics }))
  }
}

const named = (prefix: string, sample: Sample): Sample =>
  Object.fromEntries(Object.entries(sample).map(([figure, value]) => [`${prefix} ${figure}`, value]))

function linesOf(samples: Sample[]): Line[] {
  const ofYear = (number: number, figure: string, what = figure) => {
    const unit = figure === 'rate' ? 'records/s' : 'ms'
    return measured(samples.slice(number - 1, number), figure, `${what}, year ${number}`, unit)
  }
  const rates = [numberOfYears, numberOfYears + 1].map(number => ({
    ours: ofYear(number, 'rate', 'projector, last two thirds'),
    against: ofYear(1, 'rate'),
  }))
  const asked = Object.keys(samples[numberOfYears - 1] ?? {}).filter(figure => figure !== 'rate')
  const answers = asked.map(figure => ({
    ours: ofYear(numberOfYears, figure),
    against: ofYear(1, figure.replace(/^old/, 'live')),
  }))
  return [...rates, ...answers].map(({ ours, against }) => ({
    row: 'years',
    ours,
    ...(Number.isFinite(against.rounds[0]) && { against }),
  }))
}
