import { Secret, TOTP } from 'otpauth'
import { expect } from 'vitest'
import { type Fixture, newOffice, newVisitor } from './fixture.ts'

/** The code that an app shows now, or some steps of 30 s later. */
export const codeOf = (secret: string, later = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + later * 30_000 })

/** The secret that a page shows for an app; empty without one. */
export const secretIn = (page: string): string =>
  (/Secret: <code>([A-Z2-7 ]+)</.exec(page)?.[1] ?? '').replaceAll(' ', '')

/** The recovery codes that a page shows. */
export const recoveryIn = (page: string): string[] =>
  [...page.matchAll(/<li><code>([\w-]+)<\/code>/g)].map(([, code = '']) => code)

/** An administrator who has set up an app with the code of the step before, so that this one is unused. */
export async function withApp(fixture: Fixture, from?: string) {
  const { email, organizationId } = await newOffice(fixture)
  const visitor = newVisitor(fixture.app, from)
  await visitor.signIn(email)
  const page = '/account/second-factor'
  const secret = secretIn((await visitor.get(page)).body)
  const wrong = await visitor.post(page, { code: '000000' }, { from: page })
  expect([wrong.statusCode, wrong.body.includes('Incorrect code.')]).toEqual([400, true])
  const enter = () => visitor.post(page, { code: codeOf(secret, -1) }, { from: page })
  let made = await enter()
  // The half minute of the code has ended on its way.
  if (made.statusCode === 400) made = await enter()
  expect(made.statusCode).toBe(200)
  const recovery = recoveryIn(made.body)
  expect(recovery).toHaveLength(10)
  return { email, organizationId, visitor, secret, recovery }
}
