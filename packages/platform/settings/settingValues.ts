import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { FatalError } from '../lifecycle/errors.ts'
import { isDecodable, parseSentinels } from './redisUrl.ts'

/** Schemas for values of settings, used in `settings.ts`. */
export const anyPort = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.number().max(65535))
export const port = (fallback: number) => anyPort.default(fallback).meta({ takes: 'a port from 0 to 65535' })
/** A whole number from 1. */
export const count = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number)
    .default(fallback)
    .meta({ takes: 'a whole number from 1' })
const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** A whole number from 1 with a unit, in milliseconds. */
export const duration = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/)
  .transform(text => Number(text.slice(0, -1)) * unitsMs[text.slice(-1) as keyof typeof unitsMs])
export const flag = z.stringbool().default(false).meta({ takes: 'true or false' })
export const list = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

const isBroker = (text: string) =>
  /^([^\s:/@]+|\[[0-9a-f:]+\]):[1-9]\d*$/i.test(text) && URL.canParse(`kafka://${text}`)
export const brokers = z
  .string()
  .transform(list)
  .refine(all => all.length > 0 && all.every(isBroker))

/** Keys of 256 bits. */
export const secretKeys = z
  .string()
  .transform(list)
  .refine(keys => keys.every(key => /^[0-9a-f]{64}$/i.test(key)))

const url =
  (...protocols: string[]) =>
  (text: string) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)

/** The nodes of a cluster are all reached over TLS, or none, and have no database but 0. */
const areNodes = (nodes: string[]): boolean => {
  if (!nodes.every(node => url('redis:', 'rediss:')(node) && isDecodable(node))) return false
  const urls = nodes.map(node => new URL(node))
  const database = urls.length === 1 ? /^\/?\d*$/ : /^\/?0?$/
  return urls.every(one => one.protocol === urls[0]?.protocol && database.test(one.pathname))
}

/** Commas between sentinels belong to one address; commas of a Redis Cluster separate its nodes. */
export const redisNodes = z
  .string()
  .transform(text => (parseSentinels(text) === undefined ? list(text) : [text]))
  .refine(nodes => nodes.length > 0 && (parseSentinels(nodes[0] ?? '') !== undefined || areNodes(nodes)))

export const rateLimits = z
  .string()
  .transform(list)
  .refine(parts => parts.every(part => /^(Trial|ActiveDayPass|Inactive)=[1-9]\d{0,8}$/.test(part)))
  .transform(parts => parts.map(part => part.split('=') as [string, string]))
  .refine(given => new Set(given.map(([status]) => status)).size === given.length)
  .transform(given => Object.fromEntries(given) as Record<string, string>)
  .transform(given => ({
    Trial: Number(given.Trial ?? 2),
    ActiveDayPass: Number(given.ActiveDayPass ?? 60),
    Inactive: Number(given.Inactive ?? 2),
  }))

/** An address without a path, because paths are appended to it. */
export const base = (text: string) =>
  /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text

/** Whom clients of the API may ask: an e-mail address, or a page. */
export const contact = (text: string) => z.email().safeParse(text).success || url('https:', 'http:')(text)

/** OpenID Connect requires TLS, except for a provider on this machine. */
export const issuer = (text: string) =>
  url('https:')(text) ||
  (url('http:')(text) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(text).hostname))

export const network = (text: string) => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

export const origin = (text: string) =>
  text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text)

/** Whether a file can be read and has a certificate that OpenSSL would find there. */
function hasCertificate(file: string): boolean {
  try {
    return /^-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----/m.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}

/** A setting has a wrong value; the message names the setting, its value (never a password) and what it takes. */
export class SettingsError extends FatalError {
  override name = 'SettingsError'
  /** The names of the wrong settings. */
  readonly settings: string[]

  constructor(message: string, settings: string[]) {
    super(message)
    this.settings = settings
  }
}

/**
 * Node passes over a file of certificate authorities that it cannot use; it prints a line of text if it cannot read it,
 * as soon as TLS is loaded. Every certificate of such an authority would then be refused.
 */
export function checkAuthorities(file: string | undefined): void {
  if (file === undefined || hasCertificate(file)) return
  const takes = 'the name of a file that can be read and has a certificate in PEM format'
  throw new SettingsError(`NODE_EXTRA_CA_CERTS is ${JSON.stringify(file)}; it takes ${takes}`, [
    'NODE_EXTRA_CA_CERTS',
  ])
}

/** The sentence about a wrong value of a setting. */
export function wrongValue(name: string, value: string | undefined, schema: z.ZodType): string {
  const { takes = 'another value', isSecret } = (schema.meta() ?? {}) as { takes?: string; isSecret?: true }
  const shown = isSecret ? '***' : withoutPassword(value ?? '')
  return `${name} is ${JSON.stringify(shown)}; it takes ${takes}`
}

/**
 * Removes whatever may be a password, in the value of any setting: everything between the scheme and the last `@`,
 * everything after `password=`, and the whole value if a colon is followed by something other than a port and it is
 * not a list of IPv6 addresses.
 */
function withoutPassword(value: string): string {
  const [, scheme = '', address = ''] = /^([a-z]+:\/\/)?([\s\S]*)$/i.exec(value) ?? []
  const named = address.replace(/(pass\w*\s*=)[\s\S]*/i, '$1***')
  if (named.includes('@')) return `${scheme}***${named.slice(named.lastIndexOf('@'))}`
  const isPlain = !/:(?!\d{1,5}([/,?]|$))/.test(named) || list(named).every(hasIpAddress)
  return `${scheme}${isPlain ? named : '***'}`
}

const hasIpAddress = (text: string): boolean => isIP(text.split('/')[0] ?? '') !== 0

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
