import { sql } from 'kysely'
import { type DoctorFinding, fail, ok } from './check.ts'
import type { PostgresDeps } from './postgres.ts'

/** Autovacuum starts at 20 % dead rows by default; a table above this share has waited for long. */
const maxDeadShare = 0.5
/** Below this number of dead rows a table is small whatever their share. */
const fewRows = 100_000
/** Postgres begins forced vacuums at 200 million transactions, and stops at 2,000 million. */
const maxAge = 1_000_000_000

/** Whether Postgres cleans its tables up: dead rows, autovacuum, age of the oldest transaction id. */
export async function checkVacuum({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows: server } = await sql<{ isOn: boolean; age: number }>`
select current_setting('autovacuum') = 'on' and current_setting('track_counts') = 'on' as "isOn",
  age(datfrozenxid) as age
from pg_database where datname = current_database()`.execute(db)
  const { rows: off } = await sql<{ table: string }>`
select relname as table from pg_class
where relkind = 'r' and relnamespace = current_schema()::regnamespace
  and reloptions && '{autovacuum_enabled=false,autovacuum_enabled=off}' order by relname`.execute(db)
  const { rows: dead } = await sql<{ table: string; dead: number; share: number }>`
select relname as table, n_dead_tup as dead, n_dead_tup::float8 / (n_live_tup + n_dead_tup) as share
from pg_stat_user_tables
where schemaname = current_schema() and n_dead_tup > ${fewRows}
order by n_dead_tup desc`.execute(db)
  const [{ isOn, age } = { isOn: true, age: 0 }] = server
  if (!isOn)
    return fail('autovacuum is off, so that tables only grow', 'set autovacuum = on and track_counts = on')
  if (off.length > 0)
    return fail(
      `autovacuum is off for ${off.map(({ table }) => table).join(', ')}`,
      'alter table … reset (autovacuum_enabled)',
    )
  const bloated = dead.find(({ share }) => share > maxDeadShare)
  if (bloated !== undefined)
    return fail(
      `${Math.round(100 * bloated.share)} % of the rows of ${bloated.table} are dead (${bloated.dead})`,
      `vacuum ${bloated.table}; look in pg_stat_activity for a transaction that has been open for long`,
    )
  if (age > maxAge)
    return fail(
      `the oldest transaction id is ${age} transactions old`,
      'run vacuumdb --freeze on the database',
    )
  return ok('autovacuum is on, and keeps up')
}
