import { email } from '@tally/access'
import type { OidcSettings } from '@tally/runtime'
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

/**
 * The user as the provider identifies them, and when they proved it there, in epoch seconds; undefined if it does not
 * say.
 */
type OidcIdentity = { address: string; subject: string; provenAt: number | undefined }

export type Oidc = {
  /** The URL to send the browser to, and what to remember until it is back. */
  begin(next: string, options: { isFresh: boolean }): Promise<{ url: string; pending: OidcPending }>
  /**
   * The user who came back at `url`; undefined without a verified e-mail. Throws if the provider's answer is invalid.
   */
  finish(url: URL, pending: OidcPending): Promise<OidcIdentity | undefined>
}

export const callbackPath = '/sign-in/oidc/callback'

/**
 * How old a sign-in at the provider may be before it should ask again: as old as a session of the area. Being asked for
 * an age also makes a provider say when it was (`auth_time`; OpenID Connect Core, 3.1.2.1).
 */
const longestSeconds = 12 * 3_600
/** How far the provider's clock may be ahead. */
const skewSeconds = 300

/** The code flow with PKCE, state and nonce. The first sign-in discovers the provider's endpoints. */
export function openOidc({ issuer, clientId, clientSecret, adminUrl }: OidcSettings): Oidc {
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
        ...(isFresh ? { prompt: 'login', max_age: '0' } : { max_age: String(longestSeconds) }),
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
        // The provider says when it asked: within the time that the cookie is valid.
        ...(isFresh ? { maxAge: 600 } : {}),
      })
      const claims = tokens.claims()
      if (claims === undefined) return undefined
      // Many providers return the e-mail only from the userinfo endpoint.
      const user =
        claims.email === undefined
          ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
          : claims
      const address = email.safeParse(user.email)
      if (!address.success || user.email_verified !== true) return undefined
      const subject = `${claims.iss} ${claims.sub}`
      return { address: address.data, subject, provenAt: provenAtOf(claims.auth_time) }
    },
  }
}

/** A time far ahead proves nothing: it may be in milliseconds. */
function provenAtOf(authTime: number | undefined): number | undefined {
  return authTime !== undefined && authTime <= Date.now() / 1_000 + skewSeconds ? authTime : undefined
}
