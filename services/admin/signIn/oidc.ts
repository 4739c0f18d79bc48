import { email } from '@tally/access'
import type { OidcSettings } from '@tally/platform'
import * as client from 'openid-client'

/** What a sign-in remembers until the browser comes back from the provider. */
export type OidcPending = {
  verifier: string
  state: string
  nonce: string
  next: string
  /** Whether the provider must ask who it is again. */
  isFresh: boolean
}

/** The user as the provider identifies them, and when they proved it there, in epoch seconds, if it says so. */
type OidcIdentity = { address: string; subject: string; provenAt: number | undefined }
/**
 * What the provider's answer lacks: an e-mail address, its verification, or, to confirm, the time of the last sign-in
 * there, or a recent one.
 */
export type OidcLack = 'email' | 'email_verified' | 'verified-email' | 'auth_time' | 'recent-auth_time'

export type Oidc = {
  /** The provider's host, for the log. */
  provider: string
  /** The URL to send the browser to, and what to remember until it is back. */
  begin(next: string, options: { isFresh: boolean }): Promise<{ url: string; pending: OidcPending }>
  /** The user who came back at `url`, or what they lack. Throws if the provider's answer is invalid. */
  finish(url: URL, pending: OidcPending): Promise<OidcIdentity | { lacks: OidcLack }>
}

export const callbackPath = '/sign-in/oidc/callback'

/**
 * How old a sign-in at the provider may be before it should ask again: as old as a session of the area. Being asked for
 * an age also makes a provider say when it was (`auth_time`; OpenID Connect Core, 3.1.2.1).
 */
const longestSeconds = 12 * 3_600
/** How far the clocks of a provider's servers may differ. */
const skewSeconds = 300
/** How old the proof may be that a step-up brings: the provider asks within the time that the cookie is valid. */
const freshSeconds = 600

/** Asks for `auth_time` by name, too: Google and Entra do not look at `max_age` (OpenID Connect Core, 5.5). */
const claimsOfFresh = JSON.stringify({ id_token: { auth_time: { essential: true } } })

/** The code flow with PKCE, state and nonce. The first sign-in discovers the provider's endpoints. */
export function createOidc({ issuer, clientId, clientSecret, adminUrl, trustsEmail }: OidcSettings): Oidc {
  const redirectUri = `${adminUrl}${callbackPath}`
  let discovering: Promise<client.Configuration> | undefined

  const configuration = (): Promise<client.Configuration> => {
    discovering ??= discover().catch(error => {
      discovering = undefined
      throw error
    })
    return discovering
  }
  const discover = () => {
    // The settings allow http:// only for a provider on this machine.
    const isPlain = new URL(issuer).protocol === 'http:'
    return client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      timeout: 10,
      ...(isPlain ? { execute: [client.allowInsecureRequests] } : {}),
    })
  }

  return {
    provider: new URL(issuer).host,

    async begin(next, { isFresh }) {
      const pending: OidcPending = {
        verifier: client.randomPKCECodeVerifier(),
        state: client.randomState(),
        nonce: client.randomNonce(),
        next,
        isFresh,
      }
      const url = client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
        state: pending.state,
        nonce: pending.nonce,
        ...(isFresh
          ? { prompt: 'login', max_age: '0', claims: claimsOfFresh }
          : { max_age: String(longestSeconds) }),
      })
      return { url: url.href, pending }
    },

    async finish(url, { verifier, state, nonce, isFresh }) {
      const config = await configuration()
      const tokens = await client.authorizationCodeGrant(config, new URL(`${redirectUri}${url.search}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('the provider sent no ID token')
      const user = await userOf(config, tokens.access_token, claims)
      const address = email.safeParse(user.email)
      if (!address.success) return { lacks: 'email' }
      const verified = verifiedOf(user.email_verified)
      if (verified === false) return { lacks: 'verified-email' }
      if (verified === undefined && !trustsEmail) return { lacks: 'email_verified' }
      const age = ageOf(claims)
      if (isFresh && age === undefined) return { lacks: 'auth_time' }
      if (isFresh && Number(age) > freshSeconds) return { lacks: 'recent-auth_time' }
      const provenAt = age === undefined ? undefined : Date.now() / 1_000 - age
      return { address: address.data, subject: `${claims.iss} ${claims.sub}`, provenAt }
    },
  }
}

type User = { [claim: string]: unknown }

/**
 * What the provider says of the user's e-mail: in the ID token, or where that lacks a part, from the userinfo endpoint
 * (Okta and Authelia). A verification counts for the address that it came with.
 */
async function userOf(
  config: client.Configuration,
  accessToken: string,
  claims: client.IDToken,
): Promise<User> {
  const isWhole = claims.email !== undefined && claims.email_verified !== undefined
  if (isWhole || config.serverMetadata().userinfo_endpoint === undefined) return claims
  const more: User = await client.fetchUserInfo(config, accessToken, claims.sub)
  if (claims.email === undefined) return more
  const isSame = more.email === undefined || more.email === claims.email
  return {
    email: claims.email,
    email_verified: claims.email_verified ?? (isSame ? more.email_verified : undefined),
  }
}

/** Cognito writes "true", others "True" or 1. Undefined if the provider does not say. */
function verifiedOf(claim: unknown): boolean | undefined {
  if (claim === undefined || claim === null) return undefined
  return ['true', '1'].includes(String(claim).toLowerCase())
}

/**
 * Seconds since the sign-in at the provider, by its own clock, which made the token just now: Tally's may be another. A
 * time far ahead proves nothing: it may be in milliseconds.
 */
function ageOf({ iat, auth_time: at }: client.IDToken): number | undefined {
  return at !== undefined && at <= iat + skewSeconds ? Math.max(0, iat - at) : undefined
}
