import { createLogger } from '@tally/platform'
import { untilLocked } from '@tally/testkit/servers/database'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { limits, takeAttempt } from '../signIn/attempts.ts'
import { newOffice, newVisitor, openFixture, signedIn, useFixture } from '../test/fixture.ts'

const fixture = useFixture()

type Entry = { at?: string; email: string; action: string; subject?: string; detail?: string }

async function add(organizationId: string | null, ...entries: Entry[]): Promise<void> {
  for (const { at = new Date().toISOString(), email, action, subject = null, detail = null } of entries)
    await fixture.run(sql`
insert into audit_entries (organization_id, at, email, action, subject, detail, address)
values (${organizationId}, ${at}::timestamptz, ${email}, ${action}, ${subject}, ${detail}, '192.0.2.9')`)
}

test('refused and limited sign-ins of an account leave entries, one per window if limited', async () => {
  const { email, visitor } = await signedIn(fixture)
  const stranger = newVisitor(fixture.app, '203.0.113.9')
  for (let attempt = 0; attempt < limits.pair.attempts + 3; attempt++) await stranger.signIn(email, 'wrong')
  const shown = async () => {
    const { body } = await visitor.get('/audit')
    const countOf = (name: string) =>
      [...body.matchAll(new RegExp(`"What">${name}.*?203\\.0\\.113\\.9<`, 'gs'))].length
    return [countOf('Sign-in refused'), countOf('Too many sign-in attempts')]
  }
  await until('they are recorded', async () => (await shown()).join() === `${limits.pair.attempts},1`)
})

test('refused and limited sign-ins are logged with the address, never with an e-mail or a password', async () => {
  const logged: [fields: object, sentence: string][] = []
  const keep = (fields: object, sentence: string) => void logged.push([fields, sentence])
  const logger = Object.assign(Object.create(createLogger('test', 'silent')), { info: keep, warn: keep })
  const logging = await openFixture({ logger })
  const { email } = await newOffice(logging)
  for (const [before, address] of ['one@example.org', email].entries()) {
    await newVisitor(logging.app, '203.0.113.10').signIn(address, 'a wrong long password')
    await until('it is logged', async () => logged.length > before)
  }
  for (let index = 0; index < limits.network.attempts; index++)
    await takeAttempt(logging.db, { email: `${index}@example.org`, address: '203.0.113.11' })
  for (let times = 0; times < 2; times++) await newVisitor(logging.app, '203.0.113.11').signIn(email, 'x')
  await until('both kinds are logged', async () => logged.length >= 3)
  await logging.close()
  const withSentence = (text: string) =>
    logged.flatMap(([fields, sentence]) => (sentence === text ? [fields] : []))
  expect(withSentence('a sign-in was refused')).toEqual([
    { administratorId: undefined, address: '203.0.113.10' },
    { administratorId: expect.any(String), address: '203.0.113.10' },
  ])
  expect(withSentence('sign-in attempts are limited')).toMatchObject([
    { address: '203.0.113.11', limit: 'network' },
  ])
  expect(JSON.stringify(logged)).not.toMatch(/@example\.org|a wrong long password/)
})

test('the list is filtered by person, action and day', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  await add(
    organizationId,
    { at: '2026-09-03T23:59:59Z', email: 'carla@example.org', action: 'key-created', subject: 'on-3' },
    { at: '2026-09-04T00:00:00Z', email: 'carla@example.org', action: 'key-created', subject: 'on-4' },
    { at: '2026-09-05T23:59:59Z', email: 'dora@example.org', action: 'key-revoked', subject: 'on-5' },
    { at: '2026-09-06T00:00:00Z', email: 'dora@example.org', action: 'key-created', subject: 'on-6' },
  )
  const shown = async (query: string) =>
    [...(await visitor.get(`/audit?${query}`)).body.matchAll(/<code>on-(\d)<\/code>/g)].map(([, day]) =>
      Number(day),
    )
  expect(await shown('who=CARLA')).toEqual([4, 3])
  expect(await shown('action=key-revoked')).toEqual([5])
  expect(await shown('from=2026-09-04&until=2026-09-05')).toEqual([5, 4])
  // The times in the list are the browser's, the days of the filter are not.
  expect((await visitor.get('/audit')).body).toMatch(/>Since \(UTC\)<.*>Until \(UTC\)</s)
  expect(await shown('who=dora&action=key-created&from=&until=')).toEqual([6])
  for (const query of ['action=x', 'from=2026-02-30', 'until=0000-01-01', 'who=%00', 'who=a&who=b'])
    expect([query, (await visitor.get(`/audit?${query}`)).statusCode]).toEqual([query, 400])
})

test('the export has all entries of the filter, quoted and without formulas', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  const others = await signedIn(fixture)
  await add(
    organizationId,
    {
      at: '2026-09-04T10:00:00Z',
      email: 'carla@example.org',
      action: 'key-created',
      subject: 'k',
      detail: '=cmd|"x"',
    },
    { at: '2026-09-04T11:00:00Z', email: 'carla@example.org', action: 'key-revoked', detail: 'a,\nb' },
  )
  const reply = await visitor.get('/audit.csv?who=carla')
  expect(reply.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': expect.stringMatching(/^attachment; filename="audit-\d{4}-\d\d-\d\d\.csv"$/),
    'cache-control': 'no-store',
  })
  expect(reply.body).toBe(
    [
      // The byte order mark tells Excel that it is UTF-8.
      '\ufeff"at","who","action","what","subject","detail","from"',
      '"2026-09-04T11:00:00.000Z","carla@example.org","key-revoked","Revoked an API key","","a,\nb","192.0.2.9"',
      `"2026-09-04T10:00:00.000Z","carla@example.org","key-created","Created an API key","k","'=cmd|""x""","192.0.2.9"`,
      '',
    ].join('\r\n'),
  )
  expect((await others.visitor.get('/audit.csv')).body).not.toContain('carla')
})

test('an export of several pages is complete', async () => {
  const { visitor, organizationId } = await signedIn(fixture)
  await fixture.run(sql`
insert into audit_entries (organization_id, email, action, subject, address)
select ${organizationId}, 'many@example.org', 'key-created', number::text, '::1' from generate_series(1, 2500) as number`)
  const { body } = await visitor.get('/audit.csv?who=many')
  expect(
    new Set([...body.matchAll(/"key-created","Created an API key","(\d+)"/g)].map(([, number]) => number))
      .size,
  ).toBe(2_500)
})

test('the entries of commands are shown to the platform team only', async () => {
  await add(null, { email: 'root', action: 'rebuild-begun', detail: 'from Kafka' })
  const [own, platform] = [await signedIn(fixture), await signedIn(fixture, { isPlatform: true })]
  const of = '/audit?of=commands'
  expect([
    (await own.visitor.get(of)).statusCode,
    (await own.visitor.get('/audit.csv?of=commands')).statusCode,
  ]).toEqual([404, 404])
  expect((await platform.visitor.get(of)).body).toContain('Began a rebuild')
  expect((await own.visitor.get('/audit')).body).not.toContain('from Kafka')
})

test('nobody changes or deletes an entry', async () => {
  const { email } = await signedIn(fixture)
  for (const change of [
    sql`update audit_entries set email = 'x' where email = ${email}`,
    sql`delete from audit_entries where email = ${email}`,
    sql`truncate audit_entries`,
  ])
    await expect(change.execute(fixture.db)).rejects.toThrow('audit entries cannot be changed or deleted')
})

test('an organization gets four files at a time', async () => {
  const { visitor } = await signedIn(fixture)
  const { asked } = await fixture.db.transaction().execute(async tx => {
    // No file can be read to its end.
    await sql`lock table audit_entries`.execute(tx)
    const asked = Array.from({ length: 5 }, () => visitor.get('/audit.csv'))
    await Promise.race([...asked, untilLocked(fixture.db, 5)])
    return { asked }
  })
  const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode)
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 503])
})
