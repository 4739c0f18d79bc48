import { recordTopics, type TopicNames } from '@tally/kafka'
import { earliest, readLogs, readStored } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import { type DoctorFinding, fail, ok, skip, warn } from './check.ts'

/** Ages of a watermark: about a second is usual (docs/reliability.md). */
const slowMs = 5_000
const lateMs = 30_000

const mend =
  'see stalled, group and transactions; tally offsets and /readyz of the projectors say what holds them up'

/** Whether every shard is counted up to now, by the database's clock. `shards`: how many Kafka has; 0 if it is down. */
export async function checkAsOf(
  db: Postgres,
  { events, orders, refunds }: TopicNames,
  shards: number,
): Promise<DoctorFinding> {
  const topics = [events, orders, refunds]
  const stored = await readStored(db, topics).catch(unlessUnusable)
  if (stored === undefined) return skip('not checked: see schema')
  const { offsets, nowMs } = stored
  const count = Math.max(shards, ...offsets.map(({ partition }) => partition + 1))
  const ages = Array.from({ length: count }, (_, shard) => {
    const asOf = (topic: string) =>
      offsets.find(row => row.topic === topic && row.partition === shard)?.asOfMs ?? null
    const asOfMs = earliest(topics.map(asOf))
    return { shard, ageMs: asOfMs === null ? null : Math.max(0, Math.round(nowMs - asOfMs)) }
  })
  const figures = Object.fromEntries(ages.map(({ shard, ageMs }) => [shard, ageMs]))
  return { ...judge(ages), figures }
}

/** Whether a partition waits for a decision (docs/runbook.md, TallyPartitionStalled). */
export async function checkStalled(db: Postgres, names: TopicNames): Promise<DoctorFinding> {
  const logs = await readLogs(db, [...recordTopics(names).keys()]).catch(unlessUnusable)
  if (logs === undefined) return skip('not checked: this role may not read partition_logs')
  const stalled = logs.flatMap(({ topic, partition, stall }) =>
    stall === null ? [] : [{ place: `${topic}-${partition} (${stall.state})`, message: stall.message }],
  )
  if (stalled.length === 0) return ok('no partition')
  return fail(stalled.map(({ place }) => place).join(', '), stalled.map(({ message }) => message).join(' '))
}

/** Postgres's codes for a table or a function that does not exist, or that this role may not use. */
const unusable = new Set(['42P01', '42883', '42501'])

function unlessUnusable(error: { code?: string }): undefined {
  if (!unusable.has(error.code ?? '')) throw error
}

type Age = { shard: number; ageMs: number | null }

function judge(ages: Age[]): DoctorFinding {
  if (ages.length === 0) return fail('nothing was counted yet', mend)
  const unknown = ages.filter(({ ageMs }) => ageMs === null)
  if (unknown.length > 0)
    return fail(`shard ${unknown.map(({ shard }) => shard).join(', ')} has none: it was never read`, mend)
  const late = ages.filter(({ ageMs }) => (ageMs ?? 0) > slowMs)
  if (late.length === 0) return ok(ages.map(describe).join(', '))
  const found = late.map(describe).join(', ')
  return late.some(({ ageMs }) => (ageMs ?? 0) > lateMs) ? fail(found, mend) : warn(found, mend)
}

const describe = ({ shard, ageMs }: Age): string =>
  `shard ${shard} ${((ageMs ?? 0) / 1_000).toFixed(1)} s old`
