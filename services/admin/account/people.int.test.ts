import { createAdministrator, listAdministrators } from '@tally/access'
import { untilLocked } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { newOffice, newVisitor, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()
type Visitor = ReturnType<typeof newVisitor>

const people = '/account/people'
const newAddress = () => `bruno-${Math.random().toString(36).slice(2)}@example.org`
const invite = (visitor: Visitor, email: string) => visitor.post(people, { email }, { from: people })
const linkIn = (page: string) => /\/reset\/[\w-]+/.exec(page)?.[0] ?? expect.fail('no link')
const idOf = async (email: string) =>
  (await listAdministrators(fixture.db)).find(one => one.email === email)?.administratorId ??
  expect.fail(`no ${email}`)
const remove = async (visitor: Visitor, email: string) =>
  (await visitor.post(`${people}/${await idOf(email)}/remove`, {}, { from: people })).statusCode
/** A colleague who was invited by `visitor` and has signed in. */
async function joined(visitor: Visitor) {
  const [email, chosen] = [newAddress(), 'a password of my own choice']
  const link = linkIn((await invite(visitor, email)).body)
  const colleague = newVisitor(fixture.app)
  await colleague.post(link, { password: chosen }, { from: link })
  await colleague.signIn(email, chosen)
  return { email, colleague }
}

test('a colleague who is invited chooses a password by the link, once, and sees the organization only', async () => {
  const { visitor, email: own } = await signedIn(fixture)
  const email = newAddress()
  const { statusCode, body } = await invite(visitor, `  ${email.toUpperCase()} `)
  expect(statusCode).toBe(201)
  const link = linkIn(body)
  expect((await visitor.get(people)).body.match(/not signed in yet/g)).toHaveLength(1)
  const colleague = newVisitor(fixture.app)
  expect((await colleague.get(link)).body).toContain('Welcome to Tally. Choose a password.')
  const chosen = 'a password of my own choice'
  expect((await colleague.post(link, { password: chosen }, { from: link })).statusCode).toBe(303)
  const used = await colleague.get(link)
  expect([used.statusCode, used.body.includes('Ask whoever sent it')]).toEqual([404, true])
  expect((await colleague.signIn(email, chosen)).statusCode).toBe(303)
  const page = (await colleague.get(people)).body
  for (const shown of [own, email, 'aria-current="page">People<']) expect(page).toContain(shown)
  expect(page).not.toContain('not signed in yet')
  expect((await colleague.get('/operations')).statusCode).toBe(404)
  const audit = (await visitor.get('/audit')).body
  expect(audit).toMatch(new RegExp(`${own}[\\s\\S]*Created an administrator[\\s\\S]*${email}`))
})

test('who is removed is signed out at once, and can be invited again', async () => {
  const { visitor } = await signedIn(fixture)
  const { email, colleague } = await joined(visitor)
  expect((await colleague.get('/keys')).statusCode).toBe(200)
  // A second tap confirms it.
  expect((await visitor.get(people)).body).toMatch(/<details><summary[^>]*>Remove<\/summary>\s*<form/)
  expect(await remove(visitor, email)).toBe(303)
  expect((await colleague.get('/keys')).statusCode).toBe(303)
  expect((await visitor.get(people)).body).not.toContain(email)
  expect((await invite(visitor, email)).statusCode).toBe(201)
  expect((await visitor.get(people)).body).toContain('not signed in yet')
})

test('of two who remove each other at once one stays, and an invitation of the other does nothing', async () => {
  const { visitor, email: own } = await signedIn(fixture)
  const { email, colleague } = await joined(visitor)
  for (const one of [visitor, colleague]) await one.get(people)
  const invited = newAddress()
  const [first, others] = await fixture.db.transaction().execute(async tx => {
    await sql`select from administrators where email in (${own}, ${email}) for update`.execute(tx)
    const first = remove(visitor, email)
    await untilLocked(fixture.db, 1)
    const others = [remove(colleague, own), invite(colleague, invited).then(reply => reply.statusCode)]
    await Promise.race([untilLocked(fixture.db, 3), others[1]])
    return [[first], others] as const
  })
  expect(await Promise.all([...first, ...others])).toEqual([303, 404, 404])
  expect((await listAdministrators(fixture.db)).map(one => one.email)).not.toContain(invited)
  expect((await visitor.get(people)).statusCode).toBe(200)
})

test('nobody can remove themselves, the platform team, or anybody in another organization', async () => {
  const { visitor, email, organizationId } = await signedIn(fixture)
  const platform = newAddress()
  const administrator = { organizationId, email: platform, isPlatform: true, passwordHash: 'none' }
  await createAdministrator(fixture.db, administrator)
  const other = await newOffice(fixture)
  for (const kept of [email, platform, other.email]) expect(await remove(visitor, kept)).toBe(404)
  const { body } = await visitor.get(people)
  expect(body).not.toContain('/remove')
  expect(body).not.toContain(other.email)
})

test('an address that is none, or is in use, is refused on the form, with what was typed', async () => {
  const { visitor, email } = await signedIn(fixture)
  for (const [typed, status, sentence] of [
    ['Bruno', 400, 'This is not an e-mail address.'],
    [email, 409, `${email} is already an administrator.`],
  ] as const) {
    const reply = await invite(visitor, typed)
    expect([
      reply.statusCode,
      reply.body.includes(sentence),
      reply.body.includes(`value="${typed}"`),
    ]).toEqual([status, true, true])
  }
})

test('an organization has at most 100 people by invitations', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  await fixture.run(sql`
insert into administrators (organization_id, email, password_hash, is_platform)
select ${organizationId}, ${organizationId} || n || '@example.org', 'none', false from generate_series(2, 99) as n`)
  const statuses = [newAddress(), newAddress()].map(async email => (await invite(visitor, email)).statusCode)
  expect((await Promise.all(statuses)).toSorted()).toEqual([201, 409])
})

test('30 minutes after the sign-in it asks who one is, and then has the form with its field', async () => {
  const { visitor, email: own } = await signedIn(fixture)
  const email = newAddress()
  await visitor.get(people)
  await fixture.run(sql`
update admin_sessions set confirmed_at = now() - interval '30 minutes' from administrators
where administrators.administrator_id = admin_sessions.administrator_id and administrators.email = ${own}`)
  const { statusCode, headers } = await invite(visitor, email)
  expect(statusCode).toBe(303)
  const next = new URL(String(headers.location), 'http://admin.test').searchParams.get('next') ?? ''
  expect((await visitor.get(next)).body).toContain(`value="${email}"`)
  expect((await listAdministrators(fixture.db)).map(one => one.email)).not.toContain(email)
})
