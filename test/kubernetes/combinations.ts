import type { Values } from './render.ts'

/** Values of the six secret settings, as an `existingSecret` has them. */
export const secretSettings = {
  DATABASE_URL: 'postgres://tally:p%40ss@postgres:5432/tally',
  REDIS_URL: 'redis://:p%40ss@redis:6379',
  KAFKA_SASL_USERNAME: 'tally',
  KAFKA_SASL_PASSWORD: 'p@ss, "word"',
  ADMIN_SECRET_KEY: '0123456789abcdef'.repeat(4),
  ADMIN_OIDC_CLIENT_SECRET: 'c: #lient',
}
const { DATABASE_URL, REDIS_URL, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD, ...adminSecrets } = secretSettings

/** What every rendering needs. */
export const least: Values = {
  settings: { KAFKA_BROKERS: 'kafka-1:9092,kafka-2:9092' },
  secrets: { DATABASE_URL, REDIS_URL },
}

/** Each service with a role of its own in Postgres. */
const roles = ['query', 'projector', 'admin', 'migrate']
export const databaseUrls = Object.fromEntries(
  roles.map(role => [`${role.toUpperCase()}_DATABASE_URL`, DATABASE_URL]),
)
const databaseUrlKeys = Object.fromEntries(
  roles.map(role => [role, { databaseUrlKey: `${role.toUpperCase()}_DATABASE_URL` }]),
)

/** The choices that decide what is rendered; the first of each is the chart's default. */
const choices: Record<string, Values[]> = {
  secret: [{}, { existingSecret: 'kept-apart' }],
  security: [
    {},
    {
      settings: { KAFKA_SSL: true, KAFKA_SASL_MECHANISM: 'scram-sha-512' },
      secrets: { KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD, ...databaseUrls },
      certificateAuthority: { secret: 'authority' },
      ...databaseUrlKeys,
    },
  ],
  topics: [{}, { topics: { create: true, partitions: 30 }, migrate: { contract: true } }],
  projectors: [
    {},
    { projector: { autoscaling: { enabled: true, maxReplicas: 10 } } },
    { projector: { autoscaling: { enabled: true, prometheus: 'http://prometheus:9090' } } },
  ],
  queries: [
    { settings: { QUERY_MAX_CONNECTIONS: 1_000_000, CORS_ORIGINS: '*', RATE_LIMITS: 'Trial=5' } },
    { query: { autoscaling: { enabled: true } } },
    { query: { autoscaling: { enabled: true, requestsInFlight: 20 } } },
  ],
  ingress: [{}, { query: { ingress: ingress('api.example.org') } }],
  admin: [
    {},
    {
      settings: {
        ADMIN_URL: 'https://admin.example.org',
        ADMIN_TRUSTED_PROXIES: '10.0.0.0/8',
        ADMIN_SECOND_FACTOR: 'required',
        ADMIN_OIDC_ISSUER: 'https://id.example.org',
        ADMIN_OIDC_CLIENT_ID: 'tally',
      },
      secrets: adminSecrets,
      admin: { ingress: ingress('admin.example.org') },
    },
    { admin: { enabled: false } },
  ],
  network: [
    {},
    {
      networkPolicy: {
        enabled: true,
        clients: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
        adminClients: [{ podSelector: { matchLabels: { name: 'vpn' } } }],
        monitoring: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
        servers: [{ ipBlock: { cidr: '10.1.0.0/16' } }],
      },
    },
  ],
  monitor: [{}, { monitoring: { serviceMonitor: { enabled: true }, labels: { release: 'prometheus' } } }],
  rules: [{}, { monitoring: { prometheusRule: { enabled: true } } }],
}

function ingress(host: string): Values {
  return { enabled: true, className: 'nginx', host, tlsSecret: 'certificate', annotations: { some: 'thing' } }
}

/** Each choice on top of what every rendering needs, and all last choices together, by name. */
export const samples: [string, Values][] = [
  ['the defaults', least],
  ...Object.entries(choices).flatMap(([name, options]) =>
    options.map((option, index): [string, Values] => [`${name} ${index}`, merge(least, option)]),
  ),
  [
    'the second choice of all',
    Object.values(choices).reduce((all, options) => merge(all, options[1] ?? {}), least),
  ],
  [
    'the last choice of all',
    Object.values(choices).reduce((all, options) => merge(all, options.at(-1) ?? {}), least),
  ],
]

/** Every combination of the choices. */
export const combinations = (): Values[] =>
  Object.values(choices).reduce(
    (all, options) => all.flatMap(values => options.map(option => merge(values, option))),
    [least],
  )

function merge(one: Values, other: Values): Values {
  const merged = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const known = merged[name]
    merged[name] = isGroup(known) && isGroup(value) ? merge(known, value) : value
  }
  return merged
}

function isGroup(value: Values[string] | undefined): value is Values {
  return typeof value === 'object' && !Array.isArray(value)
}
