import { z } from 'zod'
import { isDatabaseUrl } from './databaseUrl.ts'
import {
  allowsPasswords,
  anyPort,
  base,
  brokers,
  checkAuthorities,
  contact,
  count,
  duration,
  flag,
  issuer,
  list,
  network,
  oidcOf,
  origin,
  port,
  rateLimits,
  redisNodes,
  SettingsError,
  saslOf,
  secretKeys,
  wrongValue,
} from './settingValues.ts'

/**
 * Every setting by its environment name: what it takes, its default, and its sentence in docs/reference.md, where
 * `fallback` stands for a default that is not one value. Nothing else in Tally reads the environment,
 * except services/tally/main.ts: it reads LOG_LEVEL when a command has failed, perhaps because of an invalid setting.
 */
const schema = z.object({
  KAFKA_BROKERS: brokers
    .prefault('localhost:9092')
    .meta({ takes: 'host:port, comma-separated' })
    .describe('`host:port`, comma-separated'),
  KAFKA_SSL: flag.describe('`true`: TLS'),
  KAFKA_SASL_MECHANISM: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['plain', 'scram-sha-256', 'scram-sha-512']))
    .optional()
    .meta({ takes: 'plain, scram-sha-256 or scram-sha-512' })
    .describe(
      '`plain`, `scram-sha-256` or `scram-sha-512`; with user name and password, or none of the three',
    ),
  KAFKA_SASL_USERNAME: z.string().optional().describe('set with `KAFKA_SASL_MECHANISM`'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('set with `KAFKA_SASL_MECHANISM`'),
  KAFKA_GROUP_ID: z
    .string()
    .max(200)
    .regex(/\S/)
    .default('tally-projector')
    .meta({ takes: '1 to 200 characters, not only spaces' })
    .describe('the consumer group of the projectors'),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,200}$/)
    .default('tally')
    .meta({ takes: 'letters, digits, ".", "_" and "-"' })
    .describe('first part of every topic name'),
  DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl)
    .default('postgres://postgres@localhost:5432/tally')
    .meta({ takes: 'postgres://user:password@host:port/database' })
    .describe(
      'Of several hosts (`postgres://u:p@h1:5432,h2:5432/tally`), Tally uses one that is writable. `sslmode` and the like: [clouds.md](clouds.md#sslmode).',
    ),
  REDIS_URL: redisNodes
    .prefault('redis://localhost:6379')
    .meta({
      takes:
        'redis://host:port, or a comma-separated list of the nodes of a Redis Cluster (all redis:// or all rediss://, without a database number), or redis+sentinel://host:port,host:port/name',
    })
    .describe(
      'One Redis, or one address of a Redis Cluster. Several addresses, comma-separated: nodes of a Redis Cluster. `redis+sentinel://u:p@h1:26379,h2:26379/name`: Sentinel (`?sentinelUsername=…&sentinelPassword=…` for its own credentials). `rediss`, `rediss+sentinel`: TLS.',
    ),
  REDIS_PREFIX: z
    .string()
    .regex(/^[^{}\s]{1,200}$/)
    .default('tally')
    .meta({ takes: 'at most 200 characters without braces or spaces' })
    .describe('first part of every key'),
  REDIS_QUIET_AFTER: duration
    .prefault('30d')
    .meta({ takes: 'a duration such as 30d, 12h, 30m or 90s' })
    .describe(
      "After this time without a change, an event's documents [leave Redis](operations.md#quiet-events). `90s`, `30m`, `12h`, `30d`; the same for all processes.",
    ),
  QUERY_HOST: z
    .string()
    .default('::')
    .describe(
      'address of the API, `/docs` and `/api/v1/openapi.json`. `::` is all addresses of the host, IPv4 and IPv6; `0.0.0.0` all of IPv4',
    ),
  QUERY_PORT: port(8080).describe('port of the API'),
  // Longer than the 60 s of AWS's balancer and nginx. Timers for more than 24 days would fire at once.
  HTTP_IDLE_TIMEOUT: duration
    .refine(ms => ms >= 5_000 && ms <= 86_400_000)
    .prefault('72s')
    .meta({ takes: 'a duration from 5s to 24h, such as 72s, 11m or 2h' })
    .describe(
      'after this time without a request, the API and the administration area close a kept connection: from `5s` to `24h`, longer than that of the [balancer](install.md#balancers-and-proxies) in front',
    ),
  QUERY_MAX_CONNECTIONS: count(12_000).describe(
    'open connections per query process; further ones are closed at once',
  ),
  // More than 5 s would not leave enough of the 10 s in which every process ends.
  QUERY_DRAIN_MS: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.number().max(5_000))
    .default(4_000)
    .meta({ takes: 'a number of milliseconds from 0 to 5000' })
    .describe(
      'how long a query process answers on after SIGTERM, 0 to 5000: see [Rolling restarts](operations.md#rolling-restarts)',
    ),
  ADMIN_HOST: z.string().default('127.0.0.1').describe('address of the administration area'),
  ADMIN_PORT: port(8081).describe('port of the administration area'),
  ADMIN_MAX_CONNECTIONS: count(4_000).describe(
    'open connections of the administration area; a live screen holds one',
  ),
  ADMIN_URL: z
    .string()
    .refine(base)
    .optional()
    .meta({ takes: 'an address such as https://admin.example.org' })
    .describe('its public address, such as `https://admin.example.org`'),
  ADMIN_API_URL: z
    .string()
    .refine(base)
    .optional()
    .meta({
      takes: 'an address such as https://api.example.org',
      fallback: '`http://localhost:` and `QUERY_PORT`',
    })
    .describe('the public address of the API, shown in `curl` lines'),
  ADMIN_TRUSTED_PROXIES: z
    .string()
    .transform(list)
    .refine(all => all.every(network))
    .prefault('')
    .meta({ takes: 'IP addresses or networks such as 10.0.0.0/8, comma-separated' })
    .describe('addresses or networks of proxies whose `X-Forwarded-…` headers are trusted'),
  ADMIN_PASSWORDS: z
    .enum(['on', 'off'])
    .default('on')
    .meta({ takes: 'on or off' })
    .describe('`off`: an OpenID provider is the only way to sign in'),
  ADMIN_SECOND_FACTOR: z
    .enum(['optional', 'required'])
    .default('optional')
    .meta({ takes: 'optional or required' })
    .describe(
      '`required`: whoever signs in with a password must set up a second factor first; without `ADMIN_SECRET_KEY` the administration area does not start',
    ),
  ADMIN_SECRET_KEY: secretKeys
    .prefault('')
    .meta({
      takes: '64 hexadecimal digits (openssl rand -hex 32); a comma, and earlier keys, may follow',
      isSecret: true,
    })
    .describe(
      'encrypts the secrets of [second factors](install.md#the-key-of-second-factors): 64 hexadecimal digits; earlier keys may follow, comma-separated',
    ),
  ADMIN_OIDC_ISSUER: z
    .string()
    .refine(issuer)
    .optional()
    .meta({ takes: "an OpenID provider's address, https:// unless it is on this machine" })
    .describe(
      'sign-in through an [OpenID provider](install.md#openid-providers); with client id, client secret and `ADMIN_URL`, or none of them',
    ),
  ADMIN_OIDC_CLIENT_ID: z.string().optional().describe('set with `ADMIN_OIDC_ISSUER`'),
  ADMIN_OIDC_CLIENT_SECRET: z.string().optional().describe('set with `ADMIN_OIDC_ISSUER`'),
  ADMIN_OIDC_EMAILS: z
    .enum(['verified', 'trusted'])
    .default('verified')
    .meta({ takes: 'verified or trusted' })
    .describe(
      '`trusted`: an e-mail address counts as verified if the provider does not say ([OpenID providers](install.md#openid-providers))',
    ),
  OPS_HOST: z.string().default('::').describe('address for health and metrics of the process'),
  OPS_MAX_CONNECTIONS: count(200).describe('open connections to `OPS_PORT`'),
  OPS_PORT: anyPort
    .optional()
    .meta({ takes: 'a port from 0 to 65535', fallback: 'projector 9090, query 9091, admin 9092' })
    .describe('port for health and metrics of the process'),
  RATE_LIMITS: rateLimits
    .prefault('')
    .meta({
      takes: 'Trial=N,ActiveDayPass=N,Inactive=N with whole numbers from 1',
      fallback: '`Trial=2,ActiveDayPass=60,Inactive=2`',
    })
    .describe('requests per organization in 60 s'),
  API_CONTACT: z
    .string()
    .refine(contact)
    .optional()
    .meta({ takes: 'an e-mail address, or an address https://…' })
    .describe(
      'whom the OpenAPI document names for questions, and the sign-in of the administration area for a new password: an e-mail address, or the address of a page',
    ),
  CORS_ORIGINS: z
    .string()
    .transform(list)
    .refine(origins => origins.every(origin))
    .prefault('')
    .meta({ takes: 'origins such as https://example.org, comma-separated, or *' })
    .describe('origins whose pages may read the API, comma-separated, or `*`'),
  EDITION: z
    .enum(['cloud', 'community'])
    .default('cloud')
    .meta({ takes: 'cloud or community' })
    .describe('`community` serves no API'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ takes: 'fatal, error, warn, info, debug, trace or silent' })
    .describe('`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`'),
})

const shapes: Record<string, z.ZodType> = schema.shape
/** The names of all settings. */
export const settingNames = Object.keys(shapes)

/** The rows of the table of docs/reference.md, Settings: name, default, sentence. */
export function settingRows(): [name: string, fallback: string, sentence: string][] {
  return Object.entries(shapes).map(([name, shape]) => {
    const { default: given, description = '', fallback } = z.toJSONSchema(shape, { io: 'input' })
    const value = given ?? shape.parse(undefined)
    const shown = value === undefined || value === '' ? 'none' : `\`${value}\``
    return [name, String(fallback ?? shown), description]
  })
}

export type RateLimits = z.output<typeof rateLimits>
export type Settings = ReturnType<typeof readSettings>

/** Reads all settings; an empty value counts as absent. Throws a SettingsError of one line with all that is wrong. */
export function readSettings(environment: Record<string, string | undefined>) {
  checkAuthorities(environment.NODE_EXTRA_CA_CERTS || undefined)
  const given = Object.fromEntries(
    Object.keys(schema.shape).map(name => [name, environment[name] || undefined]),
  )
  const parsed = schema.safeParse(given)
  if (!parsed.success) {
    const names = [...new Set(parsed.error.issues.map(issue => String(issue.path[0])))]
    const sentences = names.map(name => wrongValue(name, given[name], shapes[name] as z.ZodType))
    throw new SettingsError(sentences.join('; '), names)
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
