import type { SeenEpoch } from '@tally/offsets'
import { openPool, type PoolOptions, type Postgres } from '@tally/platform'
import type pg from 'pg'

export type DatabaseOptions = Omit<PoolOptions, 'onConnect'> & {
  /**
   * The highest epoch and revision that this process has seen, kept up to date by its owner: a database that came back
   * without its last commits continues above them.
   */
  seen?: SeenEpoch
  /** Use a connection even if it cannot open the epoch (a read-only server); for processes that take no revisions. */
  onlyReads?: boolean
}

/** A pool of connections (`openPool` of packages/platform), each of which opens the epoch of the running server. */
export function openPostgres(url: string, { seen, onlyReads, ...options }: DatabaseOptions): Postgres {
  return openPool(url, { ...options, onConnect: client => openEpoch(client, { seen, onlyReads }) })
}

/** The function is missing: the schema is older than epochs, or empty. */
const undefinedFunction = '42883'

/**
 * Opens the epoch of the running server before a new connection is used. Losing commits breaks all connections, so
 * everything read or written afterwards belongs to a new epoch (migrations/0016-baseline.ts).
 */
async function openEpoch(
  client: pg.ClientBase,
  {
    seen = { epoch: 0, revision: 0 },
    onlyReads = false,
  }: { seen?: SeenEpoch | undefined; onlyReads?: boolean | undefined },
): Promise<void> {
  try {
    await client.query({
      text: `
select open_epoch($1, $2) where current_setting('transaction_read_only') = 'off' or not $3::boolean`,
      values: [seen.epoch, seen.revision, onlyReads],
    })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== undefinedFunction && !(onlyReads && code !== undefined)) throw error
  }
}
