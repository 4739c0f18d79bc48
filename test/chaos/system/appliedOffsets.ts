import { Client } from 'pg'

type Offsets = Map<string, number>

/** The offsets that a Postgres stores, of each partition: all records below are applied. A standby answers too. */
export async function appliedOffsets({ url }: { url: string }): Promise<Offsets> {
  const session = new Client({ connectionString: url })
  await session.connect()
  const { rows } = await session
    .query('select topic, partition, next_offset from shard_offsets')
    .finally(() => session.end())
  return new Map(rows.map(row => [`${row.topic} ${row.partition}`, Number(row.next_offset)]))
}

/** How many records are applied by `one` and not by `other`. */
export function missingIn(other: Offsets, one: Offsets): number {
  const missing = [...one].map(([partition, offset]) => Math.max(0, offset - (other.get(partition) ?? 0)))
  return missing.reduce((sum, records) => sum + records, 0)
}
