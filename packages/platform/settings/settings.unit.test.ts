import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSettings } from './settings.ts'
import { SettingsError } from './settingValues.ts'

type Environment = Record<string, string>

/** The error's message; empty if the settings are valid. */
function complaint(environment: Environment): string {
  try {
    readSettings(environment)
    return ''
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
}

test('without any setting everything has its documented default', () => {
  expect(readSettings({ PATH: '/bin', UNRELATED: 'x' })).toEqual({
    kafka: { brokers: ['localhost:9092'], ssl: false },
    kafkaGroupId: 'tally-projector',
    topicPrefix: 'tally',
    databaseUrl: 'postgres://postgres@localhost:5432/tally',
    redisNodes: ['redis://localhost:6379'],
    redisPrefix: 'tally',
    redisQuietMs: 30 * 86_400_000,
    query: {
      host: '::',
      port: 8080,
      maxConnections: 12_000,
      idleTimeoutMs: 72_000,
      drainMs: 4_000,
      contact: undefined,
    },
    admin: {
      host: '127.0.0.1',
      port: 8081,
      maxConnections: 4_000,
      idleTimeoutMs: 72_000,
      url: undefined,
      apiUrl: 'http://localhost:8080',
      trustedProxies: [],
      oidc: undefined,
      allowsPasswords: true,
      requiresSecondFactor: false,
      secretKeys: [],
    },
    ops: { host: '::', port: undefined, maxConnections: 200 },
    rateLimits: { Trial: 2, ActiveDayPass: 60, Inactive: 2 },
    corsOrigins: [],
    edition: 'cloud',
    logLevel: 'info',
  })
})

test('a given value replaces the default', () => {
  const settings = readSettings({
    KAFKA_BROKERS: 'one:9092, two:9093,[::1]:9094',
    KAFKA_SSL: 'true',
    KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
    KAFKA_SASL_USERNAME: 'tally',
    KAFKA_SASL_PASSWORD: 'p@ss, word',
    REDIS_URL: 'rediss://a:1,rediss://u:p@b:2',
    REDIS_QUIET_AFTER: '36h',
    RATE_LIMITS: 'ActiveDayPass=600,Trial=5',
    API_CONTACT: 'api@example.org',
    ADMIN_TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8',
    CORS_ORIGINS: 'https://example.org,http://localhost:3000',
    OPS_PORT: '0',
    EDITION: 'community',
    LOG_LEVEL: 'silent',
  })
  expect(settings).toMatchObject({
    kafka: {
      brokers: ['one:9092', 'two:9093', '[::1]:9094'],
      ssl: true,
      sasl: { mechanism: 'scram-sha-512', username: 'tally', password: 'p@ss, word' },
    },
    redisNodes: ['rediss://a:1', 'rediss://u:p@b:2'],
    redisQuietMs: 36 * 3_600_000,
    rateLimits: { Trial: 5, ActiveDayPass: 600, Inactive: 2 },
    query: { contact: 'api@example.org' },
    admin: { trustedProxies: ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'] },
    corsOrigins: ['https://example.org', 'http://localhost:3000'],
    ops: { port: 0 },
    edition: 'community',
    logLevel: 'silent',
  })
})

test('an empty value counts as absent', () => {
  const names = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'QUERY_PORT', 'EDITION', 'KAFKA_SASL_PASSWORD']
  expect(readSettings(Object.fromEntries(names.map(name => [name, ''])))).toEqual(readSettings({}))
})

test.each([
  ['KAFKA_BROKERS', ['a', 'http://a:1', ',', 'a:1/x', 'a:0', 'a:65536']],
  ['KAFKA_SSL', ['maybe']],
  ['KAFKA_SASL_MECHANISM', ['oauthbearer']],
  ['KAFKA_GROUP_ID', [' ', 'x'.repeat(201)]],
  ['TOPIC_PREFIX', ['a b', 'ä', 'a/b', 'x'.repeat(201)]],
  ['DATABASE_URL', ['mysql://localhost/tally', 'localhost:5432', 'tally']],
  [
    'REDIS_URL',
    ['localhost:6379', 'http://localhost', 'redis://a:1,b:2', ',', 'redis://a/b', 'redis://a/-1'],
  ],
  ['REDIS_PREFIX', ['a{b', 'a b']],
  ['REDIS_QUIET_AFTER', ['0d', '30', '1w', '1.5h', '-1s', 'P30D']],
  ['QUERY_PORT', ['65536', '-1', '8080x', '1.5', ' 80']],
  ['HTTP_IDLE_TIMEOUT', ['72', '0s', '4s', '25h', '30d']],
  ['QUERY_MAX_CONNECTIONS', ['0', '-1', '1e4', '10.5']],
  ['ADMIN_PORT', ['99999']],
  ['ADMIN_MAX_CONNECTIONS', ['0']],
  ['OPS_MAX_CONNECTIONS', ['many']],
  ['ADMIN_URL', ['example.org', 'https://example.org/', 'https://example.org/admin', '*']],
  ['ADMIN_API_URL', ['localhost:8080', 'ftp://example.org']],
  ['ADMIN_TRUSTED_PROXIES', ['proxy', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', 'true', '1']],
  ['ADMIN_OIDC_ISSUER', ['example.org', 'http://example.org', 'http://127.evil.example', 'ftp://localhost']],
  ['ADMIN_OIDC_EMAILS', ['true', 'Trusted']],
  ['OPS_PORT', ['http']],
  [
    'RATE_LIMITS',
    ['Trial', 'Trial=0', 'Trial=2.5', 'Trial=-1', 'Gold=5', 'Trial=02', 'trial=2', 'Trial=2,Trial=3'],
  ],
  ['API_CONTACT', ['example.org', 'Ada', 'ftp://example.org']],
  ['CORS_ORIGINS', ['example.org', 'https://example.org/', 'ftp://example.org', 'null']],
  ['EDITION', ['Cloud', 'enterprise']],
  ['LOG_LEVEL', ['verbose', 'INFO']],
])('the error for a bad %s is one line with its name, its value and what it takes', (name, values) => {
  for (const value of values) {
    const sentence = complaint({ [name]: value })
    expect([value, sentence]).toEqual([value, expect.stringContaining(`${name} is "`)])
    expect(sentence).toMatch(/it takes \S+/)
    expect(sentence).not.toContain('\n')
    expect(sentence).toContain(JSON.stringify(value))
  }
})

test('a key to encrypt with is never said, right or wrong', () => {
  const key = '0123456789abcdef'.repeat(4)
  for (const wrong of [key.slice(1), `${key}0`, `${key};${key}`, `${key},${key.slice(2)}`])
    expect(complaint({ ADMIN_SECRET_KEY: wrong })).toMatch(
      /^ADMIN_SECRET_KEY is "\*\*\*"; it takes 64 hexadecimal digits/,
    )
  const { admin } = readSettings({ ADMIN_SECRET_KEY: `${key}, ${key.toUpperCase()}` })
  expect(admin.secretKeys).toEqual([key, key.toUpperCase()])
})

test('a value with line breaks is still one line', () => {
  expect(complaint({ EDITION: 'a\nb\r\u2028c' }).split(/[\r\n]/)).toHaveLength(1)
})

test.each(['/not/there', import.meta.filename])(
  'a file of certificate authorities that Node would pass over is refused: %s',
  file => {
    expect(() => readSettings({ NODE_EXTRA_CA_CERTS: file })).toThrow(
      `NODE_EXTRA_CA_CERTS is "${file}"; it takes the name of a file`,
    )
  },
)

test.each(['redis://a,rediss://b', 'redis://a/3,redis://b/3', 'redis://:50%@a', 'redis+sentinel://a/%ff'])(
  'nodes of a Redis Cluster have one scheme and no database number, and each % begins an escape: %s',
  nodes => {
    expect(complaint({ REDIS_URL: nodes })).toContain('all redis:// or all rediss://, without a database')
  },
)

test('all wrong settings are named at once', () => {
  expect(complaint({ EDITION: 'x', QUERY_PORT: 'y', LOG_LEVEL: 'info' })).toMatch(
    /QUERY_PORT is .*EDITION is /,
  )
})

test('the three SASL settings go together', () => {
  const all = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'MARKER' }
  expect(complaint(all)).toBe('')
  for (const name of Object.keys(all)) {
    const sentence = complaint({ ...all, [name]: '' })
    expect(sentence).toContain(name)
    expect(sentence).not.toContain('MARKER')
  }
})

const odd = fc.string({ unit: fc.constantFrom(...`aZ9,:;@/?#[]{}%&=+$!'"\\|<>^~\` ü\n\t`), maxLength: 8 })
const password = fc.tuple(odd, odd).map(([before, after]) => `${before}MARKER${after}`)

const provider = {
  ADMIN_URL: 'https://admin.example.org',
  ADMIN_OIDC_ISSUER: 'https://login.example.org/tenant',
  ADMIN_OIDC_CLIENT_ID: 'tally',
  ADMIN_OIDC_CLIENT_SECRET: 'hidden',
}

test('the settings of an OpenID provider go together, and require the address that it redirects to', () => {
  expect(readSettings(provider).admin.oidc).toEqual({
    issuer: 'https://login.example.org/tenant',
    clientId: 'tally',
    clientSecret: 'hidden',
    adminUrl: 'https://admin.example.org',
    trustsEmail: false,
  })
  expect(readSettings({ ...provider, ADMIN_OIDC_EMAILS: 'trusted' }).admin.oidc?.trustsEmail).toBe(true)
  for (const name of Object.keys(provider)) {
    const sentence = complaint({ ...provider, [name]: '' })
    expect(sentence).toContain('go together')
    expect(sentence).not.toContain('hidden')
  }
  expect(readSettings({ ADMIN_URL: provider.ADMIN_URL }).admin).toMatchObject({
    url: provider.ADMIN_URL,
    oidc: undefined,
  })
})

test('no password in an address is ever shown, whatever its characters and wherever the mistake is', () => {
  const address = fc.constantFrom<(password: string) => Environment>(
    password => ({ DATABASE_URL: `mysql://tally:${password}@db:5432/tally` }),
    password => ({ DATABASE_URL: `tally:${password}@db:5432/tally` }),
    password => ({ DATABASE_URL: `postgres://tally:${password}@db:port/tally` }),
    password => ({ DATABASE_URL: `host=db user=tally password=${password}` }),
    password => ({ DATABASE_URL: `mysql://db/tally?user=tally&password=${password}` }),
    password => ({ REDIS_URL: `redis:/:${password}@cache:6379` }),
    password => ({ REDIS_URL: `http://:${password}@cache:6379` }),
    password => ({ REDIS_URL: `redis://a:1,tally:${password}@cache:6379` }),
    password => ({ KAFKA_BROKERS: `SASL://tally:${password}@kafka:9092` }),
    password => ({ KAFKA_BROKERS: `tally:${password}@kafka:9092` }),
    password => ({ KAFKA_BROKERS: `kafka:9092,${password}@kafka:9092` }),
    password => ({ CORS_ORIGINS: `https://tally:${password}@example.org` }),
    password => ({ ADMIN_TRUSTED_PROXIES: `http://tally:${password}@10.0.0.1` }),
    password => ({ ADMIN_OIDC_ISSUER: `http://tally:${password}@example.org` }),
    password => ({ OPS_PORT: `tally:${password}@9090` }),
    password => ({ RATE_LIMITS: `redis://:${password}@cache:6379` }),
    password => ({ KAFKA_SASL_PASSWORD: password }),
    password => ({ KAFKA_SASL_PASSWORD: password, KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_MECHANISM: 'x' }),
  )
  fc.assert(
    fc.property(address, password, (environment, password) => {
      expect(complaint({ ...environment(password), EDITION: 'wrong' })).not.toContain('MARKER')
    }),
    { numRuns: 1_000 },
  )
})

test('passwords can be turned off only if there is an OpenID provider', () => {
  expect(() => readSettings({ ADMIN_PASSWORDS: 'off' })).toThrow(
    'ADMIN_PASSWORDS is "off", and there is no other way to sign in: set ADMIN_OIDC_ISSUER too',
  )
  expect(readSettings({ ...provider, ADMIN_PASSWORDS: 'off' }).admin.allowsPasswords).toBe(false)
  expect(() => readSettings({ ADMIN_SECOND_FACTOR: 'yes' })).toThrow('it takes optional or required')
})
