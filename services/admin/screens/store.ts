import { newToken, sha256 } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { lockName, type Postgres, type Tx } from '@tally/platform'
import { sql } from 'kysely'
import type { Shows } from './shows.ts'

/** A link for a screen in a hall, which shows one event. */
export type ScreenLink = {
  screenId: number
  organizationId: OrganizationId
  eventId: EventId
  name: string
  shows: Shows
  /** The area of a kitchen's screen. */
  areaId: number | null
  createdBy: string
  createdAt: number
  endsAt: number
  lastSeenAt: number | null
}

const columns = sql`
screen_id as "screenId", organization_id as "organizationId", event_id as "eventId", name, shows, area_id as "areaId",
created_by as "createdBy", created_at as "createdAt", ends_at as "endsAt", last_seen_at as "lastSeenAt"`
const isGood = sql`revoked_at is null and ends_at > now()`

/** Whoever else makes a link for this organization waits until the transaction ends: two do not take the last place. */
export const lockScreens = (tx: Tx, organizationId: OrganizationId): Promise<void> =>
  lockName(tx, `tally screens of ${organizationId}`)

export type NewScreen = Omit<ScreenLink, 'screenId' | 'createdAt' | 'lastSeenAt'>

/** Makes a link and returns its token; only its hash is stored. */
export async function createScreen(
  tx: Tx,
  { organizationId, eventId, name, shows, areaId, createdBy, endsAt }: NewScreen,
): Promise<{ screenId: number; token: string }> {
  const token = newToken()
  const { rows } = await sql<{ screenId: number }>`
insert into screen_links (token_sha256, organization_id, event_id, name, shows, area_id, created_by, ends_at)
values (
  ${sha256(token)}, ${organizationId}, ${eventId}, ${name}, ${shows}, ${areaId}, ${createdBy}, ${new Date(endsAt).toISOString()}
)
returning screen_id as "screenId"`.execute(tx)
  return { screenId: rows[0]?.screenId ?? 0, token }
}

/** An organization's links that work, the newest first. */
export async function listScreens(db: Postgres | Tx, organizationId: OrganizationId): Promise<ScreenLink[]> {
  const { rows } = await sql<ScreenLink>`
select ${columns} from screen_links
where organization_id = ${organizationId} and ${isGood}
order by screen_id desc`.execute(db)
  return rows
}

/** The link of a token; undefined if it is unknown, revoked or has ended. Stores once a minute that it is used. */
export async function findScreen(db: Postgres, token: string): Promise<ScreenLink | undefined> {
  const { rows } = await sql<ScreenLink>`
select ${columns} from screen_links where token_sha256 = ${sha256(token)} and ${isGood}`.execute(db)
  const [found] = rows
  if (found !== undefined)
    await sql`
update screen_links set last_seen_at = now()
where screen_id = ${found.screenId} and (last_seen_at is null or last_seen_at < now() - interval '1 minute')`.execute(
      db,
    )
  return found
}

/** The name of a revoked link of an organization. */
export async function nameOfRevoked(db: Postgres, organizationId: OrganizationId, screenId: number) {
  const { rows } = await sql<{ name: string }>`
select name from screen_links
where screen_id = ${screenId} and organization_id = ${organizationId} and revoked_at is not null`.execute(db)
  return rows[0]?.name
}

/** Revokes a link of an organization; returns its name, or undefined if there is none that works. */
export async function revokeScreen(
  tx: Tx,
  organizationId: OrganizationId,
  screenId: number,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
update screen_links set revoked_at = now()
where screen_id = ${screenId} and organization_id = ${organizationId} and ${isGood}
returning name`.execute(tx)
  return rows[0]?.name
}
