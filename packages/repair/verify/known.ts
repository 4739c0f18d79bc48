import type { EventId, OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import type { ReadModel } from '@tally/publication'
import { Cluster } from 'ioredis'
import { sql } from 'kysely'

const idsAPage = 500

/** Ids of all events, ascending; read page by page. */
export async function* eventIds(db: Postgres): AsyncGenerator<EventId> {
  for (let last: string | null = null; ; ) {
    const query = db.selectFrom('event_heads').select('event_id').orderBy('event_id').limit(idsAPage)
    const rows: { event_id: string }[] = await (last === null
      ? query
      : query.where('event_id', '>', last)
    ).execute()
    for (const { event_id } of rows) yield event_id as EventId
    const end = rows.at(-1)
    if (end === undefined) return
    last = end.event_id
  }
}

export async function countEvents(db: Postgres): Promise<number> {
  const { count } = await db
    .selectFrom('event_heads')
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** All organizations of which a record or an event has arrived. */
export async function organizationIds(db: Postgres): Promise<OrganizationId[]> {
  const { rows } = await sql<{ id: OrganizationId }>`
select organization_id as id from organizations union select organization_id from events order by id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

type Kinds = { event: EventId; organization: OrganizationId }

/** Ids that have a hash in Redis and no row in Postgres, page by page; Redis, which gets them last, is read first. */
export async function* unknownInRedis<Kind extends keyof Kinds>(
  { db, redis, keys }: ReadModel,
  kind: Kind,
): AsyncGenerator<Kinds[Kind][]> {
  // Every such key ends with the id in braces.
  const prefix = keys[kind]('' as never).slice(0, -1)
  const match = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*}`
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis]
  for (const node of nodes) {
    for (let cursor = '0'; ; ) {
      const [next, found] = await node.scan(cursor, 'MATCH', match, 'COUNT', 1_000)
      const ids = found.map(key => key.slice(prefix.length, -1)).filter(isId)
      const known = ids.length === 0 ? new Set() : await knownOf(db, kind, ids)
      const unknown = ids.filter(id => !known.has(id)) as Kinds[Kind][]
      if (unknown.length > 0) yield unknown
      cursor = next
      if (cursor === '0') break
    }
  }
}

const isId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

async function knownOf(db: Postgres, kind: keyof Kinds, ids: string[]): Promise<Set<string>> {
  const { rows } =
    kind === 'event'
      ? await sql<{
          id: string
        }>`select event_id as id from event_heads where event_id = any(${ids}::uuid[])`.execute(db)
      : await sql<{ id: string }>`
select organization_id as id from organizations where organization_id = any(${ids}::uuid[])
union select organization_id from events where organization_id = any(${ids}::uuid[])`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
