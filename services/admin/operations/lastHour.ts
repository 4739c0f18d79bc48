import { type KafkaConnection, topicNames } from '@tally/kafka'
import { readOffsets } from '@tally/offsets'
import { type Postgres, timeout } from '@tally/platform'
import { bars } from '../views/bars.ts'
import { type Format, moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { answerTimeoutMs, endsOf, lagsOf } from './read.ts'

/**
 * What one sample found: all records that projectors have read and all dead letters so far, and the lag. Null: a server
 * that it needs did not answer.
 */
export type Sample = { atMs: number; read: number | null; deadLetters: number | null; lag: number | null }

const hourMs = 3_600_000
/** A sample asks Postgres once and each broker that leads a partition three times; an hour of them is 120 samples. */
const everyMs = 30_000

/**
 * Takes a sample now and every 30 s, also while the page is closed, and keeps those of the last hour: only Prometheus
 * has more. It begins when the process starts, and each process has its own. `close` ends it.
 */
export function openLastHour(takeSample: () => Promise<Sample>) {
  let kept: Sample[] = []
  const take = async () => {
    const sample = await takeSample()
    kept = [...kept.filter(({ atMs }) => atMs > sample.atMs - hourMs), sample]
  }
  void take()
  const timer = setInterval(take, everyMs)
  return { samples: (): readonly Sample[] => kept, close: () => clearInterval(timer) }
}

type Servers = { db: Postgres; kafka: KafkaConnection; topicPrefix: string }

/** Asks Kafka and Postgres; never throws. */
export async function takeSample({ db, kafka, topicPrefix }: Servers): Promise<Sample> {
  const { events, orders, refunds, deadLetters } = topicNames(topicPrefix)
  const topics = [events, orders, refunds]
  const [stored, ends] = await Promise.all([
    timeout(answerTimeoutMs, readOffsets(db, topics)).catch(() => undefined),
    timeout(answerTimeoutMs, endsOf(kafka, [...topics, deadLetters])).catch(() => undefined),
  ])
  const partitions = topics.flatMap(topic =>
    [...(ends?.get(topic)?.keys() ?? [])].map(partition => ({ topic, partition })),
  )
  const lagOf = stored && ends && lagsOf(stored, ends)
  return {
    atMs: Date.now(),
    read: stored === undefined ? null : sum(stored.map(({ nextOffset }) => nextOffset)),
    deadLetters:
      ends === undefined ? null : sum([...(ends.get(deadLetters)?.values() ?? [])].map(({ end }) => end)),
    lag: lagOf ? sum(partitions.map(lagOf)) : null,
  }
}

const sum = (counts: number[]): number => counts.reduce((all, count) => all + count, 0)

/** Two minutes of the hour; null: not known. */
type Minutes = { readPerMinute: number | null; deadLetters: number | null; lag: number | null }
const columnMs = 120_000

/** The hour until `nowMs` in thirty columns, the oldest first. Each takes its time from the samples that end in it. */
export function minutesOf(samples: readonly Sample[], nowMs: number): Minutes[] {
  const steps = samples.slice(1).map((now, index) => ({ now, before: samples[index] as Sample }))
  return Array.from({ length: hourMs / columnMs }, (_, index) => {
    const endsMs = nowMs - hourMs + (index + 1) * columnMs
    const mine = steps.filter(({ now }) => now.atMs > endsMs - columnMs && now.atMs <= endsMs)
    const grown = (counter: 'read' | 'deadLetters') => {
      const known = mine.flatMap(({ now, before }) => {
        const [to, from] = [now[counter], before[counter]]
        // A topic that was made again, or a rebuild, begins at 0.
        return to === null || from === null
          ? []
          : [{ by: Math.max(0, to - from), ms: now.atMs - before.atMs }]
      })
      return known.length === 0
        ? null
        : { by: sum(known.map(({ by }) => by)), ms: sum(known.map(({ ms }) => ms)) }
    }
    const read = grown('read')
    const lags = mine.flatMap(({ now }) => (now.lag === null ? [] : [now.lag]))
    return {
      readPerMinute: read === null ? null : Math.round((read.by / Math.max(1, read.ms)) * 60_000),
      deadLetters: grown('deadLetters')?.by ?? null,
      lag: lags.length === 0 ? null : Math.max(...lags),
    }
  })
}

/** What this process saw in the last hour, as three small charts. */
export function hourView(samples: readonly Sample[], format: Format): Html {
  const since = samples[0]?.atMs
  if (since === undefined || samples.length < 2) return html``
  const minutes = minutesOf(samples, Date.now())
  const all = minutes.reduce((sum, { deadLetters }) => sum + (deadLetters ?? 0), 0)
  return html`<section class="card"><h2>Last hour</h2>
<div class="curves">
${curve('Records read per minute', 'readPerMinute', minutes, format)}
${curve('Lag (records)', 'lag', minutes, format)}
${curve('New dead letters', 'deadLetters', minutes, format, `${format.whole(all)} in all`)}
</div>
<p class="faint">A bar is two minutes. This process looks every 30 s, and has done so since ${moment(since)}.</p></section>`
}

function curve(
  name: string,
  figure: keyof Minutes,
  minutes: Minutes[],
  { whole }: Format,
  sentence?: string,
): Html {
  const known = minutes.flatMap(column => column[figure] ?? [])
  const most = Math.max(0, ...known)
  const text = (count: number | null | undefined) => (count == null ? 'unknown' : whole(count))
  const said = sentence ?? `${text(minutes.at(-1)?.[figure])} now, ${whole(most)} at most`
  const columns = minutes.map((column, index) => {
    const count = column[figure]
    const ago = ((minutes.length - index) * columnMs) / 60_000
    return {
      title: `${ago} to ${ago - columnMs / 60_000} min ago: ${text(count)}`,
      parts: count === null ? [] : [{ count, kind: figure === 'deadLetters' ? 'refused' : 'answered' }],
    }
  })
  return html`<div><h3>${name}</h3>${bars(columns, { label: `${name}: ${said}`, most })}
<p class="faint ends"><span>1 h ago</span><span>${said}</span></p></div>`
}
