import { counterTables } from '@tally/figures'
import type { Postgres } from '@tally/platform'
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
export type ShadowRun = { id: number; continued: boolean }

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
    await sql`drop schema if exists ${sql.id(shadowSchema)} cascade`.execute(tx)
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

/** The run that the schema belongs to, if there is one. */
export async function findShadow(
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
