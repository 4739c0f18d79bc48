import { setTimeout as sleep } from 'node:timers/promises'
import { type Instant, isTransient, type Postgres, type Tx } from '@tally/platform'
import { type Generated, sql } from 'kysely'

/** An arbitrary number that nothing else locks. */
const lockKey = 7_460_129_934

/**
 * Does `work` as the only rebuild or removal of events of this database, with the one connection that holds the lock.
 * It writes only through this connection: if it lost it, because it was taken for dead, it can no longer write.
 */
export function asOnlyRebuild<T>(db: Postgres, work: (locked: Postgres) => Promise<T>): Promise<T> {
  return db.connection().execute(async locked => {
    const tryLock = async () => {
      const { rows } = await sql<{ held: boolean }>`select pg_try_advisory_lock(${lockKey}) as held`.execute(
        locked,
      )
      return rows[0]?.held === true
    }
    // Postgres may take a while to notice that a rebuild was killed.
    for (let tries = 1; !(await tryLock()); tries++) {
      if (tries === 50)
        throw new Error(
          'another `tally rebuild` or `tally events remove` is running on this database: wait until it ends',
        )
      await sleep(100)
    }
    try {
      return await work(locked)
    } catch (error) {
      if (!isTransient(error)) throw error
      const why = (error as Error).message
      throw new Error(`${why}: run the same command again`, { cause: error })
    } finally {
      // The connection goes back to a pool that is about to close; a broken one has lost the lock already.
      await sql`select pg_advisory_unlock(${lockKey})`.execute(locked).catch(() => undefined)
    }
  })
}

/** Notes the start of a run, and returns its id. */
export async function newRun(db: Postgres): Promise<number> {
  const { rows } = await sql<{ id: number }>`
insert into rebuilds (started_at) values (now()) returning rebuild_id as id`.execute(db)
  return (rows[0] as { id: number }).id
}

export async function finishRun(db: Postgres, id: number): Promise<void> {
  await sql`update rebuilds set finished_at = now() where rebuild_id = ${id}`.execute(db)
}

/**
 * Locks a partition's stored offset until the transaction ends: always before events, as a batch does. A partition that
 * was never read has no row and needs no lock.
 */
export async function lockPartition(tx: Tx, topic: string, partition: number): Promise<void> {
  await sql`select 1 from shard_offsets where topic = ${topic} and partition = ${partition} for update`.execute(
    tx,
  )
}

/**
 * Stores a revision of this partition: if this process ends before it has published what it
 * changed, the projector notices that Redis lacks it and publishes it (docs/architecture.md, invariant 4).
 */
export async function noteRevision(
  tx: Tx,
  { topic, partition, revision }: { topic: string; partition: number; revision: number },
): Promise<void> {
  await sql`
update shard_offsets set revision = greatest(revision, ${revision}::bigint)
where topic = ${topic} and partition = ${partition}`.execute(tx)
}

/** A run of `tally rebuild`. */
type RebuildTable = {
  rebuild_id: Generated<number>
  started_at: Instant
  finished_at: Instant<null>
}

declare module '@tally/platform/database' {
  interface Database {
    rebuilds: RebuildTable
  }
}
