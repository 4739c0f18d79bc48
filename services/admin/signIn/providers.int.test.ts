import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Fixture, newOffice, newVisitor, openFixture } from '../test/fixture.ts'
import { type Behaviour, startStubProvider } from '../test/stubProvider.ts'
import { createOidc, type Oidc } from './oidc.ts'

let provider: Awaited<ReturnType<typeof startStubProvider>>
let fixture: Fixture
let oidc: Oidc
beforeAll(async () => {
  provider = await startStubProvider()
  fixture = await openFixture({
    allowsPasswords: false,
    oidc: {
      provider: 'the stub',
      begin: (...given) => oidc.begin(...given),
      finish: (...given) => oidc.finish(...given),
    },
  })
})
afterAll(async () => {
  await fixture.close()
  provider.close()
})

const nowSeconds = () => Math.floor(Date.now() / 1_000)
/** The times of a provider whose clock is ahead, that of another server of it by a minute more. */
const timesAhead = (seconds: number) => {
  const iat = nowSeconds() + seconds
  return { iat, auth_time: iat + 60, exp: iat + 7_200 }
}
/** A provider that asks again and says so, if it is asked for an age. */
const whenAsked = (asked: URLSearchParams) => (asked.has('max_age') ? { auth_time: nowSeconds() } : {})
const requests = (asked: URLSearchParams, claim: string) =>
  asked.get('claims')?.includes(`"${claim}"`) === true

type Case = {
  name: string
  behaviour: (email: string) => Behaviour
  trustsEmail?: true
  /** What the page of the sign-in names; signed in if absent. */
  refusedFor?: string
  /** What the page of a step-up names; confirmed if absent. */
  unconfirmedFor?: string
}

/** The table of docs/install.md, OpenID providers, and what each provider does before it is set so. */
const cases: Case[] = [
  {
    name: 'Keycloak, Auth0, Cognito: all in the ID token',
    behaviour: email => ({ idToken: asked => ({ email, email_verified: true, ...whenAsked(asked) }) }),
  },
  {
    name: 'Okta: the verification in userinfo only',
    behaviour: email => ({
      idToken: () => ({ email, auth_time: nowSeconds() }),
      userinfo: { email, email_verified: true },
    }),
  },
  {
    name: 'Authelia: no claim but auth_time in the ID token',
    behaviour: email => ({
      idToken: () => ({ auth_time: nowSeconds() }),
      userinfo: { email, email_verified: true },
    }),
  },
  {
    name: 'Cognito: texts in userinfo',
    behaviour: email => ({
      idToken: asked => ({ email, ...whenAsked(asked) }),
      userinfo: { email, email_verified: 'true' },
    }),
  },
  {
    name: 'Entra as it is',
    behaviour: () => ({ idToken: () => ({ preferred_username: 'anna@example.org' }), userinfo: {} }),
    refusedFor: 'claim email)',
  },
  {
    name: 'Entra with the optional claims, not trusted',
    behaviour: email => ({ idToken: () => ({ email, auth_time: nowSeconds() }), userinfo: { email } }),
    refusedFor: 'claim email_verified). ADMIN_OIDC_EMAILS',
  },
  {
    name: 'Entra with the optional claims, trusted',
    behaviour: email => ({ idToken: () => ({ email, auth_time: nowSeconds() }), userinfo: { email } }),
    trustsEmail: true,
  },
  {
    name: 'Entra without the optional claim auth_time',
    behaviour: email => ({ idToken: () => ({ email }), userinfo: { email } }),
    trustsEmail: true,
    unconfirmedFor: 'claim auth_time), so that nothing',
  },
  {
    name: 'Google as it is; Dex in front of GitHub',
    behaviour: email => ({ idToken: () => ({ email, email_verified: true }) }),
    unconfirmedFor: 'claim auth_time), so that nothing',
  },
  {
    name: 'Google with session age claims, which does not ask again',
    behaviour: email => ({
      idToken: asked => ({
        email,
        email_verified: true,
        ...(requests(asked, 'auth_time') ? { auth_time: nowSeconds() - 3_600 } : {}),
      }),
    }),
    unconfirmedFor: 'did not ask you to sign in again',
  },
  {
    name: 'Google with session age claims, signed in there just now',
    behaviour: email => ({
      idToken: asked => ({
        email,
        email_verified: true,
        ...(requests(asked, 'auth_time') ? { auth_time: nowSeconds() - 60 } : {}),
      }),
    }),
  },
  {
    name: 'a provider that says no, even if it is trusted',
    behaviour: email => ({ idToken: () => ({ email, email_verified: 'false', auth_time: nowSeconds() }) }),
    trustsEmail: true,
    refusedFor: 'is not verified at your organization',
  },
  {
    name: 'a verification of another address',
    behaviour: email => ({
      idToken: () => ({ email }),
      userinfo: { email: 'other@example.org', email_verified: true },
    }),
    refusedFor: 'claim email_verified). ADMIN_OIDC_EMAILS',
  },
  ...[-3_600, 3_600].map(seconds => ({
    name: `a clock that is ${seconds} s ahead, and a verification as text`,
    behaviour: (email: string) => ({
      idToken: () => ({ email, email_verified: 'True', ...timesAhead(seconds) }),
    }),
  })),
  {
    name: 'an age in milliseconds',
    behaviour: email => ({
      idToken: () => ({ email, email_verified: true, auth_time: nowSeconds() * 1_000 }),
    }),
    unconfirmedFor: 'claim auth_time), so that nothing',
  },
  {
    name: 'an age as text',
    behaviour: email => ({
      idToken: () => ({ email, email_verified: true, auth_time: String(nowSeconds()) }),
    }),
    refusedFor: 'is not valid; the log of Tally says why',
  },
]

/** Tally's side of the provider, and what a visitor is answered who comes back from there. */
function signInThrough(trustsEmail: boolean) {
  const { issuer } = provider
  const adminUrl = 'http://admin.test'
  oidc = createOidc({ issuer, clientId: 'tally', clientSecret: 'x', adminUrl, trustsEmail })
  const visitor = newVisitor(fixture.app)
  const through = async (path: string) => {
    const sent = String((await visitor.get(path)).headers.location)
    const back = (await fetch(sent, { redirect: 'manual' })).headers.get('location') ?? ''
    const { statusCode, body } = await visitor.get(back.replace(adminUrl, ''))
    return { statusCode, body: body.replaceAll('&#39;', '’') }
  }
  return { visitor, through }
}

test.for(cases)('$name', async ({ behaviour, trustsEmail = false, refusedFor, unconfirmedFor }) => {
  const { email } = await newOffice(fixture)
  provider.behave(behaviour(email))
  const { visitor, through } = signInThrough(trustsEmail)
  const answerOf = (sentence: string | undefined) =>
    sentence === undefined
      ? { statusCode: 303 }
      : { statusCode: 403, body: expect.stringContaining(sentence) }

  expect(await through('/sign-in/oidc')).toMatchObject(answerOf(refusedFor))
  expect((await visitor.get('/account')).statusCode).toBe(refusedFor === undefined ? 200 : 303)
  if (refusedFor !== undefined) return
  expect(await through('/sign-in/oidc?fresh=yes&next=/keys/new')).toMatchObject(answerOf(unconfirmedFor))
  expect((await visitor.get('/keys/new')).statusCode).toBe(unconfirmedFor === undefined ? 200 : 303)
})

test('a provider that fails on the way back is an outage and no refusal, and no password is offered in vain', async () => {
  const refused = vi.spyOn(fixture.deps.logger, 'info')
  provider.behave({ idToken: () => ({}), tokenStatus: 502 })
  const { statusCode, body } = await signInThrough(false).through('/sign-in/oidc')
  expect([statusCode, body.includes('does not answer. Try again.'), refused.mock.calls]).toEqual([
    503,
    true,
    [],
  ])
  refused.mockRestore()
})
