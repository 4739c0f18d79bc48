import { newToken, sha256 } from '@tally/access'
import type { Postgres } from '@tally/storage'
import { sql } from 'kysely'

/** Browsers remembered per administrator; the one that was not used for longest is forgotten first. */
const mostDevices = 20
export const rememberedDays = 180

/** A name for the browser with this cookie if the account has signed in there before (OWASP, Device cookies). */
export async function knownDevice(
  db: Postgres,
  token: string | undefined,
  email: string | undefined,
): Promise<string | undefined> {
  if (token === undefined || email === undefined) return undefined
  const { rows } = await sql`
select from known_devices
join administrators using (administrator_id)
where device_sha256 = ${sha256(token)} and email = ${email}
  and last_used_at > now() - make_interval(days => ${rememberedDays})`.execute(db)
  return rows.length === 0 ? undefined : sha256(token).toString('hex')
}

/** Remembers the browser of a successful sign-in; returns its cookie, a new one each time. */
export async function rememberDevice(
  db: Postgres,
  administratorId: string,
  before: string | undefined,
): Promise<string> {
  const token = newToken()
  await db.transaction().execute(async tx => {
    if (before !== undefined)
      await tx.deleteFrom('known_devices').where('device_sha256', '=', sha256(before)).execute()
    await tx
      .insertInto('known_devices')
      .values({ device_sha256: sha256(token), administrator_id: administratorId })
      .execute()
    await sql`
delete from known_devices where device_sha256 in (
  select device_sha256 from known_devices where administrator_id = ${administratorId}
  order by last_used_at desc offset ${mostDevices}
)`.execute(tx)
  })
  return token
}
