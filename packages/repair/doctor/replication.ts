import { sql } from 'kysely'
import { type DoctorFinding, fail, ok } from './check.ts'
import type { PostgresDeps } from './postgres.ts'

/** A standby that is further behind loses what Tally must read again from Kafka, and its WAL fills the disk. */
const maxLagBytes = 64 * 1024 ** 2
const maxLagMs = 30_000

type Standby = { name: string; bytes: number; lagMs: number; isSynchronous: boolean }

/**
 * Whether all standbys that Postgres knows of follow. It knows one that is gone by its replication slot, or by
 * `synchronous_standby_names`. Without the role pg_monitor, their lag is not visible.
 */
export async function checkReplication({ db }: PostgresDeps): Promise<DoctorFinding> {
  const { rows: standbys } = await sql<Standby>`
select
  application_name as name,
  coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint as bytes,
  coalesce(extract(epoch from replay_lag) * 1000, 0)::bigint as "lagMs",
  sync_state in ('sync', 'quorum') as "isSynchronous"
from pg_stat_replication where not pg_is_in_recovery()`.execute(db)
  const { rows: slots } = await sql<{ name: string }>`
select slot_name as name from pg_replication_slots where not active order by slot_name`.execute(db)
  const { rows: settings } = await sql<{ synchronous: string }>`
select current_setting('synchronous_standby_names') as synchronous`.execute(db)
  return judge(
    standbys,
    slots.map(({ name }) => name),
    settings[0]?.synchronous ?? '',
  )
}

function judge(standbys: Standby[], unusedSlots: string[], synchronous: string): DoctorFinding {
  if (synchronous !== '' && !standbys.some(({ isSynchronous }) => isSynchronous))
    return fail(
      `commits wait for a synchronous standby, and none is connected (${synchronous})`,
      'start the standby, or correct synchronous_standby_names',
    )
  if (unusedSlots.length > 0)
    return fail(
      `nothing reads replication slot ${unusedSlots.join(', ')}, and its WAL fills the disk`,
      'start the standby again, or drop the slot with pg_drop_replication_slot',
    )
  const behind = standbys.find(({ bytes, lagMs }) => bytes > maxLagBytes || lagMs > maxLagMs)
  if (behind !== undefined)
    return fail(
      `standby ${behind.name} is ${lagOf(behind)} behind`,
      'look at its log, disk and network, and for queries on it that hold up its replay',
    )
  return ok(
    standbys.length === 0
      ? 'no standby'
      : standbys.map(standby => `${standby.name} is ${lagOf(standby)} behind`).join(', '),
  )
}

const lagOf = ({ bytes, lagMs }: Standby): string =>
  `${(bytes / 1024 ** 2).toFixed(1)} MiB and ${(lagMs / 1_000).toFixed(1)} s`
