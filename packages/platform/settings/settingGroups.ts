import { SettingsError } from './settingErrors.ts'

/** Kafka's credentials, if the settings name any. */
export function saslOf(
  values: Partial<Record<'KAFKA_SASL_USERNAME' | 'KAFKA_SASL_PASSWORD', string | undefined>> & {
    KAFKA_SASL_MECHANISM?: 'plain' | 'scram-sha-256' | 'scram-sha-512' | undefined
  },
) {
  const {
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: username,
    KAFKA_SASL_PASSWORD: password,
  } = values
  if (mechanism === undefined && username === undefined && password === undefined) return {}
  if (mechanism === undefined || username === undefined || password === undefined) {
    throw new SettingsError(
      'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD go together: set all three, or none',
      ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
    )
  }
  return { sasl: { mechanism, username, password } }
}

/** The OpenID provider through which administrators may sign in, and Tally's credentials there. */
export type OidcSettings = {
  issuer: string
  clientId: string
  clientSecret: string
  adminUrl: string
  /** Whether an e-mail address counts as verified if the provider does not say. */
  trustsEmail: boolean
}

type OidcValues = Partial<
  Record<`ADMIN_OIDC_${'ISSUER' | 'CLIENT_ID' | 'CLIENT_SECRET'}` | 'ADMIN_URL', string | undefined>
> & {
  ADMIN_OIDC_EMAILS: string
}

export function oidcOf(values: OidcValues): OidcSettings | undefined {
  const {
    ADMIN_OIDC_ISSUER: issuer,
    ADMIN_OIDC_CLIENT_ID: clientId,
    ADMIN_OIDC_CLIENT_SECRET: clientSecret,
    ADMIN_URL: adminUrl,
  } = values
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
  if (
    issuer === undefined ||
    clientId === undefined ||
    clientSecret === undefined ||
    adminUrl === undefined
  ) {
    throw new SettingsError(
      'ADMIN_OIDC_ISSUER, ADMIN_OIDC_CLIENT_ID, ADMIN_OIDC_CLIENT_SECRET and ADMIN_URL go together: set all four, or only ADMIN_URL, or none',
      ['ADMIN_OIDC_ISSUER', 'ADMIN_OIDC_CLIENT_ID', 'ADMIN_OIDC_CLIENT_SECRET'],
    )
  }
  return { issuer, clientId, clientSecret, adminUrl, trustsEmail: values.ADMIN_OIDC_EMAILS === 'trusted' }
}

export function allowsPasswords(values: {
  ADMIN_PASSWORDS: string
  ADMIN_OIDC_ISSUER?: string | undefined
}): boolean {
  if (values.ADMIN_PASSWORDS === 'off' && values.ADMIN_OIDC_ISSUER === undefined)
    throw new SettingsError(
      'ADMIN_PASSWORDS is "off", and there is no other way to sign in: set ADMIN_OIDC_ISSUER too',
      ['ADMIN_PASSWORDS'],
    )
  return values.ADMIN_PASSWORDS === 'on'
}
