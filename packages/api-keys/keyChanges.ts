import type { Postgres } from '@tally/read-models'
import { sql } from 'kysely'
import type { StoredKey } from './apiKey.ts'
import type { Log } from './keySource.ts'
import { fromRow, type KeyRow } from './store.ts'

const pollMs = 300
/** With more at once it is cheaper to begin with an empty cache. */
const mostChanges = 1_000

/**
 * What a poll says: the keys that changed since the one before. Not `isContinued`: what was known before must be forgotten,
 * because this is the first poll, keys were deleted, or Postgres restarted (it may have lost commits).
 */
export type KeyChanges = { beganMs: number; isContinued: boolean; changed: StoredKey[] }

/**
 * Where the polls have come to: every transaction with a lower id than `xmin` is over; `server` changes with each start and
 * each promotion of Postgres.
 */
export type Position = { xmin: number; deletions: number; server: string }

/**
 * Asks Postgres every 0.3 s which keys changed: one small query per process in place of one per key in use. None is missed,
 * in whatever order the transactions commit; while one of them takes long, some are told again. Returns what stops it.
 */
export function followKeys({
  db,
  logger,
  onChanges,
}: {
  db: Postgres
  logger: Log
  onChanges: (changes: KeyChanges) => void
}): () => Promise<void> {
  let position: Position | undefined
  let running: Promise<void> | undefined

  const poll = async () => {
    const beganMs = performance.now()
    const { changed, ...next } = await readChanges(db, position?.xmin)
    const isContinued = continues(position, next) && changed.length <= mostChanges
    position = next
    onChanges({ beganMs, isContinued, changed })
  }
  const run = () => {
    running ??= poll()
      .catch(error => logger.debug({ err: error }, 'changes of API keys not read; trying again'))
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(run, pollMs)
  run()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Whether all that changed between two polls is what the later one says. */
export function continues(before: Position | undefined, { xmin, deletions, server }: Position): boolean {
  return before?.server === server && before.deletions === deletions && before.xmin <= xmin
}

/** The position of now, and the keys that were changed from another on, none without one; in one snapshot: one statement. */
async function readChanges(
  db: Postgres,
  since: number | undefined,
): Promise<Position & { changed: StoredKey[] }> {
  const { rows } = await sql<Omit<KeyRow, 'key_id'> & { key_id: string | null } & Position>`
select
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin,
  deletions,
  running_server() as server,
  changed.*
from api_key_deletions
left join (
  select * from api_keys
  where changed_by >= ${since ?? Number.MAX_SAFE_INTEGER}
  order by changed_by
  limit ${mostChanges + 1}
) as changed on true`.execute(db)
  const [first] = rows
  if (first === undefined) throw new Error('the table api_key_deletions is empty')
  const { xmin, deletions, server } = first
  const changed = rows.flatMap(row => (row.key_id === null ? [] : [fromRow({ ...row, key_id: row.key_id })]))
  return { xmin, deletions, server, changed }
}
