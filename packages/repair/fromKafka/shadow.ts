import { counterTables } from '@tally/figures'
import {
  describeTopics,
  endOffsets,
  judgeLogs,
  type KafkaConnection,
  partitionKey,
  type TopicPartition,
} from '@tally/kafka'
import { ensureOffsets, noteTopicIds, readLogs, readOffsets } from '@tally/offsets'
import { type Postgres, TransientError } from '@tally/platform'
import { openPostgres } from '@tally/schema'
import { type RawBuilder, sql } from 'kysely'
import { finishRun, newRun } from '../rebuild/run.ts'

/** The schema, next to the live one, into which the topics are read again. */
export const shadowSchema = 'tally_rebuild'

/** What belongs to one event: switched with it, and emptied by `tally events remove`. */
export const eventTables = ['events', 'orders', 'refunds', ...counterTables]

/** What batches write; everything else (the sequence of revisions, types, keys) is that of the live schema. */
const shadowTables = [
  'shard_offsets',
  'partition_logs',
  'shard_watermarks',
  'organizations',
  'event_heads',
  ...eventTables,
]

/** A run; its rows are dropped with the schema. */
type ShadowRun = { id: number; continued: boolean }

/**
 * Continues the shadow of a run of these topics that was interrupted within a day, or creates an empty one. A shadow of
 * other logs (`isSameLog`) is replaced; so is one that an older version created, because a missing table would resolve
 * to the live one (`openShadowPostgres`). The tables are unlogged: after a crash of Postgres all of them are empty,
 * offsets included.
 */
export async function openShadow(
  db: Postgres,
  topicPrefix: string,
  isSameLog: () => Promise<boolean>,
): Promise<ShadowRun> {
  const found = await findShadow(db)
  const mayContinue = found?.topicPrefix === topicPrefix && found.young && (await isWhole(db))
  if (mayContinue && (await isSameLog())) return { id: found.id, continued: true }
  const id = await db.transaction().execute(async tx => {
    await dropShadow(tx)
    await sql`create schema ${sql.id(shadowSchema)}`.execute(tx)
    for (const table of shadowTables) {
      const [shadow, live] = [sql.id(shadowSchema, table), sql.id(table)]
      await sql`create unlogged table ${shadow} (like ${live} including all)`.execute(tx)
    }
    await sql`
create table ${sql.id(shadowSchema, 'run')} (rebuild_id integer not null, topic_prefix text not null)`.execute(
      tx,
    )
    const id = await newRun(tx)
    await sql`insert into ${sql.id(shadowSchema, 'run')} values (${id}, ${topicPrefix})`.execute(tx)
    return id
  })
  return { id, continued: false }
}

/** Drops what an interrupted run has left, which `tally events remove` would not empty, and forgets the run. */
export async function dropShadow(db: Postgres, onDropping = () => {}): Promise<void> {
  const found = await findShadow(db)
  if (found !== undefined) {
    onDropping()
    await sql`delete from rebuilds where rebuild_id = ${found.id}`.execute(db)
  }
  await sql`drop schema if exists ${sql.id(shadowSchema)} cascade`.execute(db)
}

/** The run that the schema belongs to, if there is one. */
async function findShadow(
  db: Postgres,
): Promise<{ id: number; topicPrefix: string; young: boolean } | undefined> {
  const { rows: there } = await sql<{ found: boolean }>`
select to_regclass(${`${shadowSchema}.run`}) is not null as found`.execute(db)
  if (there[0]?.found !== true) return undefined
  const { rows } = await sql<{ id: number; topicPrefix: string; young: boolean }>`
select run.rebuild_id as id, run.topic_prefix as "topicPrefix", started_at > now() - interval '1 day' as young
from ${sql.id(shadowSchema, 'run')} as run join rebuilds using (rebuild_id)`.execute(db)
  return rows[0]
}

/** Whether the shadow has the columns of the live tables, in their order: rows are copied by position. */
async function isWhole(db: Postgres): Promise<boolean> {
  const columns = (schema: RawBuilder<string>) => sql`
select table_name, column_name, udt_name,
  row_number() over (partition by table_name order by ordinal_position) as place
from information_schema.columns
where table_schema = ${schema} and table_name = any(${shadowTables}::text[])`
  const [live, made] = [columns(sql`current_schema()`), columns(sql.val(shadowSchema))]
  const { rows } = await sql`(${live} except ${made}) union all (${made} except ${live})`.execute(db)
  return rows.length === 0
}

/** Ends the run: drops the schema and marks the run as finished, in one transaction. */
export async function closeShadow(db: Postgres, { id }: ShadowRun): Promise<void> {
  await db.transaction().execute(async tx => {
    await sql`drop schema ${sql.id(shadowSchema)} cascade`.execute(tx)
    await finishRun(tx, id)
  })
}

/** Connections for which table names mean those of the shadow, so that the code that applies batches need not know. */
export async function openShadowPostgres(db: Postgres, databaseUrl: string, max: number): Promise<Postgres> {
  const { rows } = await sql<{ live: string }>`select quote_ident(current_schema()) as live`.execute(db)
  return openPostgres(databaseUrl, {
    name: 'rebuild',
    max,
    statementTimeoutMs: 120_000,
    session: { search_path: `${shadowSchema}, ${rows[0]?.live}`, synchronous_commit: 'off' },
    onError: () => {},
  })
}

export type ShadowDeps = { kafka: KafkaConnection; db: Postgres; shadow: Postgres }

/** Inserts the offsets of all partitions, live and shadow; returns their keys. Throws if a topic lost first records. */
export async function ensurePartitions(
  { kafka, db, shadow }: ShadowDeps,
  topics: string[],
): Promise<string[]> {
  const keys: string[] = []
  for (const [topic, offsets] of await endOffsets(kafka, topics)) {
    const gone = [...offsets].find(([, { start }]) => start > 0)
    if (gone !== undefined) {
      const [partition, { start }] = gone
      throw new Error(
        `${topic}-${partition} begins at offset ${start}: its first records were deleted and would be missing. ` +
          'Run `tally rebuild` without --from-kafka, which counts from the orders and refunds in Postgres.',
      )
    }
    const partitions = [...offsets.keys()]
    await ensureOffsets(db, topic, partitions)
    await ensureOffsets(shadow, topic, partitions)
    keys.push(...partitions.map(partition => partitionKey({ topic, partition })))
  }
  return keys
}

/** Stores in the shadow which logs it reads. */
export async function noteLogs({ kafka, shadow }: ShadowDeps, topics: string[]): Promise<void> {
  // Only their ids: isSameLog compares the records.
  await noteTopicIds(shadow, await judgeLogs(kafka, await readLogs(shadow, topics), () => false))
}

/**
 * Whether Kafka still holds, up to the shadow's offsets, what the shadow has read. Throws a TransientError if a
 * partition has no leader now.
 */
export async function isSameLog(
  { kafka, db }: Pick<ShadowDeps, 'kafka' | 'db'>,
  topics: string[],
): Promise<boolean> {
  const stored = await readLogs(db.withSchema(shadowSchema), topics)
  const logs = await judgeLogs(kafka, stored)
  if (logs.length === stored.length) return logs.every(({ state }) => state === 'ok')
  const judged = new Set(logs.map(partitionKey))
  const counts = await describeTopics(kafka, topics)
  const leaderless = stored.find(
    one => !judged.has(partitionKey(one)) && one.partition < (counts.get(one.topic) ?? 0),
  )
  if (leaderless !== undefined)
    throw new TransientError(`no broker leads ${leaderless.topic}-${leaderless.partition} right now`)
  return false
}

/**
 * Live offsets, by partition key, cut at the ends of Kafka's logs: what is applied lies below an end that is asked for
 * later, unless the topic was created again.
 */
export async function belowEnds(
  kafka: KafkaConnection,
  topics: string[],
  live: Map<string, number>,
): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  for (const [topic, offsets] of await endOffsets(kafka, topics))
    for (const [partition, { end }] of offsets) ends.set(partitionKey({ topic, partition }), end)
  return new Map([...live].map(([key, offset]) => [key, Math.min(offset, ends.get(key) ?? 0)]))
}

/** The offsets of the live tables, likewise: how far the shadow may read. */
export async function readLiveOffsets(
  { kafka, db }: ShadowDeps,
  topics: string[],
): Promise<Map<string, number>> {
  const stored = await readOffsets(db, topics)
  return belowEnds(kafka, topics, new Map(stored.map(offset => [partitionKey(offset), offset.nextOffset])))
}

/** The offsets at which the shadow continues the partitions of assigned topics, by topic and partition. */
export async function readStarts(
  shadow: Postgres,
  assignment: Map<string, number[]>,
): Promise<Map<string, Map<number, number>>> {
  const starts = new Map<string, Map<number, number>>()
  for (const { topic, partition, nextOffset } of await readOffsets(shadow, [...assignment.keys()]))
    starts.set(topic, (starts.get(topic) ?? new Map()).set(partition, nextOffset))
  return starts
}

/** Stores that the shadow has skipped everything below `next`. */
export async function storeSkipped(
  shadow: Postgres,
  { topic, partition }: TopicPartition,
  next: number,
): Promise<void> {
  await shadow
    .updateTable('shard_offsets')
    .set({ next_offset: next })
    .where('topic', '=', topic)
    .where('partition', '=', partition)
    .where('next_offset', '<', next)
    .execute()
}
