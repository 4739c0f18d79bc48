import { isIP } from 'node:net'
import { z } from 'zod'
import { isDatabaseUrl } from './databaseUrl.ts'
import { FatalError } from './errors.ts'
import {
  anyPort,
  base,
  brokers,
  contact,
  count,
  duration,
  flag,
  hasCertificate,
  issuer,
  list,
  network,
  origin,
  port,
  rateLimits,
  redisNodes,
  secretKeys,
} from './settingValues.ts'

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
 * Every setting (docs/reference.md, Settings) by its environment name. Nothing else in Tally reads the environment,
 * except services/tally/main.ts: it reads LOG_LEVEL when a command has failed, perhaps because of an invalid setting.
 */
const schema = z.object({
  KAFKA_BROKERS: brokers.prefault('localhost:9092').meta({ takes: 'host:port, comma-separated' }),
  KAFKA_SSL: flag,
  KAFKA_SASL_MECHANISM: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['plain', 'scram-sha-256', 'scram-sha-512']))
    .optional()
    .meta({ takes: 'plain, scram-sha-256 or scram-sha-512' }),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  KAFKA_GROUP_ID: z.string().max(200).default('tally-projector').meta({ takes: 'at most 200 characters' }),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,200}$/)
    .default('tally')
    .meta({ takes: 'letters, digits, ".", "_" and "-"' }),
  DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl)
    .default('postgres://postgres@localhost:5432/tally')
    .meta({ takes: 'postgres://user:password@host:port/database' }),
  REDIS_URL: redisNodes.prefault('redis://localhost:6379').meta({
    takes:
      'redis://host:port, or a comma-separated list of the nodes of a Redis Cluster (all redis:// or all rediss://, without a database number), or redis+sentinel://host:port,host:port/name',
  }),
  REDIS_PREFIX: z
    .string()
    .regex(/^[^{}\s]{1,200}$/)
    .default('tally')
    .meta({ takes: 'at most 200 characters without braces or spaces' }),
  REDIS_QUIET_AFTER: duration.prefault('30d').meta({ takes: 'a duration such as 30d, 12h, 30m or 90s' }),
  QUERY_HOST: z.string().default('::'),
  QUERY_PORT: port(8080),
  // Longer than the 60 s of AWS's balancer and nginx. Timers for more than 24 days would fire at once.
  HTTP_IDLE_TIMEOUT: duration
    .refine(ms => ms >= 5_000 && ms <= 86_400_000)
    .prefault('72s')
    .meta({ takes: 'a duration from 5s to 24h, such as 72s, 11m or 2h' }),
  QUERY_MAX_CONNECTIONS: count(12_000),
  // More than 5 s would not leave enough of the 10 s in which every process ends.
  QUERY_DRAIN_MS: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.number().max(5_000))
    .default(4_000)
    .meta({ takes: 'a number of milliseconds from 0 to 5000' }),
  ADMIN_HOST: z.string().default('127.0.0.1'),
  ADMIN_PORT: port(8081),
  ADMIN_MAX_CONNECTIONS: count(4_000),
  ADMIN_URL: z
    .string()
    .refine(base)
    .optional()
    .meta({ takes: 'an address such as https://admin.example.org' }),
  ADMIN_API_URL: z
    .string()
    .refine(base)
    .optional()
    .meta({ takes: 'an address such as https://api.example.org' }),
  ADMIN_TRUSTED_PROXIES: z
    .string()
    .transform(list)
    .refine(all => all.every(network))
    .prefault('')
    .meta({ takes: 'IP addresses or networks such as 10.0.0.0/8, comma-separated' }),
  ADMIN_PASSWORDS: z.enum(['on', 'off']).default('on').meta({ takes: 'on or off' }),
  ADMIN_SECOND_FACTOR: z
    .enum(['optional', 'required'])
    .default('optional')
    .meta({ takes: 'optional or required' }),
  ADMIN_SECRET_KEY: secretKeys.prefault('').meta({
    takes: '64 hexadecimal digits (openssl rand -hex 32); a comma, and earlier keys, may follow',
    isSecret: true,
  }),
  ADMIN_OIDC_ISSUER: z
    .string()
    .refine(issuer)
    .optional()
    .meta({ takes: "an OpenID provider's address, https:// unless it is on this machine" }),
  ADMIN_OIDC_CLIENT_ID: z.string().optional(),
  ADMIN_OIDC_CLIENT_SECRET: z.string().optional(),
  ADMIN_OIDC_EMAILS: z
    .enum(['verified', 'trusted'])
    .default('verified')
    .meta({ takes: 'verified or trusted' }),
  OPS_HOST: z.string().default('::'),
  OPS_MAX_CONNECTIONS: count(200),
  OPS_PORT: anyPort.optional().meta({ takes: 'a port from 0 to 65535' }),
  RATE_LIMITS: rateLimits
    .prefault('')
    .meta({ takes: 'Trial=N,ActiveDayPass=N,Inactive=N with whole numbers from 1' }),
  API_CONTACT: z
    .string()
    .refine(contact)
    .optional()
    .meta({ takes: 'an e-mail address, or an address https://…' }),
  CORS_ORIGINS: z
    .string()
    .transform(list)
    .refine(origins => origins.every(origin))
    .prefault('')
    .meta({ takes: 'origins such as https://example.org, comma-separated, or *' }),
  EDITION: z.enum(['cloud', 'community']).default('cloud').meta({ takes: 'cloud or community' }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ takes: 'fatal, error, warn, info, debug, trace or silent' }),
})

/** The names of all settings. */
export const settingNames = Object.keys(schema.shape)

export type RateLimits = z.output<typeof rateLimits>
export type Settings = ReturnType<typeof readSettings>

/**
 * Reads all settings from an environment. An empty value counts as absent. Throws a SettingsError of one line
 * that lists every wrong setting.
 */
export function readSettings(environment: Record<string, string | undefined>) {
  checkAuthorities(environment.NODE_EXTRA_CA_CERTS || undefined)
  const given = Object.fromEntries(
    Object.keys(schema.shape).map(name => [name, environment[name] || undefined]),
  )
  const parsed = schema.safeParse(given)
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(issue => String(issue.path[0])))]
    throw new SettingsError(names.map(name => describe(name, given[name])).join('; '), names)
  }
  const values = parsed.data
  return {
    kafka: { brokers: values.KAFKA_BROKERS, ssl: values.KAFKA_SSL, ...saslOf(values) },
    kafkaGroupId: values.KAFKA_GROUP_ID,
    topicPrefix: values.TOPIC_PREFIX,
    databaseUrl: values.DATABASE_URL,
    redisNodes: values.REDIS_URL,
    redisPrefix: values.REDIS_PREFIX,
    redisQuietMs: values.REDIS_QUIET_AFTER,
    query: {
      host: values.QUERY_HOST,
      port: values.QUERY_PORT,
      maxConnections: values.QUERY_MAX_CONNECTIONS,
      idleTimeoutMs: values.HTTP_IDLE_TIMEOUT,
      drainMs: values.QUERY_DRAIN_MS,
      contact: values.API_CONTACT,
    },
    admin: {
      host: values.ADMIN_HOST,
      port: values.ADMIN_PORT,
      maxConnections: values.ADMIN_MAX_CONNECTIONS,
      idleTimeoutMs: values.HTTP_IDLE_TIMEOUT,
      url: values.ADMIN_URL,
      apiUrl: values.ADMIN_API_URL ?? `http://localhost:${values.QUERY_PORT}`,
      trustedProxies: values.ADMIN_TRUSTED_PROXIES,
      oidc: oidcOf(values),
      allowsPasswords: allowsPasswords(values),
      requiresSecondFactor: values.ADMIN_SECOND_FACTOR === 'required',
      secretKeys: values.ADMIN_SECRET_KEY,
    },
    ops: { host: values.OPS_HOST, port: values.OPS_PORT, maxConnections: values.OPS_MAX_CONNECTIONS },
    rateLimits: values.RATE_LIMITS,
    corsOrigins: values.CORS_ORIGINS,
    edition: values.EDITION,
    logLevel: values.LOG_LEVEL,
  }
}

/**
 * Node passes over a file of certificate authorities that it cannot use; it prints a line of text if it cannot read it,
 * as soon as TLS is loaded. Every certificate of such an authority would then be refused.
 */
function checkAuthorities(file: string | undefined): void {
  if (file === undefined || hasCertificate(file)) return
  const takes = 'the name of a file that can be read and has a certificate in PEM format'
  throw new SettingsError(`NODE_EXTRA_CA_CERTS is ${JSON.stringify(file)}; it takes ${takes}`, [
    'NODE_EXTRA_CA_CERTS',
  ])
}

function saslOf(values: z.output<typeof schema>) {
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

function oidcOf(values: z.output<typeof schema>): OidcSettings | undefined {
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

function allowsPasswords(values: z.output<typeof schema>): boolean {
  if (values.ADMIN_PASSWORDS === 'off' && values.ADMIN_OIDC_ISSUER === undefined)
    throw new SettingsError(
      'ADMIN_PASSWORDS is "off", and there is no other way to sign in: set ADMIN_OIDC_ISSUER too',
      ['ADMIN_PASSWORDS'],
    )
  return values.ADMIN_PASSWORDS === 'on'
}

function describe(name: string, value: string | undefined): string {
  const shape = (schema.shape as Record<string, z.ZodType>)[name]
  const { takes = 'another value', isSecret } = (shape?.meta() ?? {}) as { takes?: string; isSecret?: true }
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
