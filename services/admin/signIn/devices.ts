import { newToken, sha256 } from '@tally/access'
import type { Postgres } from '@tally/platform'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { readCookie, setCookie } from './cookies.ts'

/** Browsers remembered per administrator; the one that was not used for longest is forgotten first. */
const mostDevices = 20
export const rememberedDays = 180

/** A name for a browser if the account has signed in there before (OWASP, Device cookies). */
export async function knownDevice(
  db: Postgres,
  request: FastifyRequest,
  email: string | undefined,
): Promise<string | undefined> {
  const token = readCookie(request, 'device')
  if (token === undefined || email === undefined) return undefined
  const { rows } = await sql`
select from known_devices
join administrators using (administrator_id)
where device_sha256 = ${sha256(token)} and email = ${email}
  and last_used_at > now() - make_interval(days => ${rememberedDays})`.execute(db)
  return rows.length === 0 ? undefined : sha256(token).toString('hex')
}

/** Remembers the browser of someone who proved who they are; it gets a new cookie each time. */
export async function giveDevice(
  db: Postgres,
  request: FastifyRequest,
  reply: FastifyReply,
  administratorId: string,
): Promise<void> {
  const [before, token] = [readCookie(request, 'device'), newToken()]
  await db.transaction().execute(async tx => {
    if (before !== undefined)
      await sql`delete from known_devices where device_sha256 = ${sha256(before)}`.execute(tx)
    await sql`
insert into known_devices (device_sha256, administrator_id)
values (${sha256(token)}, ${administratorId})`.execute(tx)
    await sql`
delete from known_devices where device_sha256 in (
  select device_sha256 from known_devices where administrator_id = ${administratorId}
  order by last_used_at desc offset ${mostDevices}
)`.execute(tx)
  })
  setCookie(request, reply, 'device', token, rememberedDays * 86_400)
}
