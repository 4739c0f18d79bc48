import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSettings, settingNames } from '@tally/platform'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { run } from '#infra/command.ts'
import { goProgram, helm as helmProgram } from '#infra/install/goPrograms.ts'
import { databaseUrls, least, samples, secretSettings } from './combinations.ts'
import { type Container, chart, kubeVersion, type Manifest, podsOf, render, type Values } from './render.ts'

const root = join(import.meta.dirname, '../..')
const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')).properties
let helm: string
/** The first use on a machine compiles helm. */
const compiles = 1_200_000

beforeAll(async () => {
  helm = await goProgram(helmProgram, line => void process.stderr.write(`${line}\n`))
}, compiles)

describe.each(samples)('rendered with %s', (_, values) => {
  let manifests: Manifest[]
  beforeAll(async () => {
    manifests = await render(helm, values)
  })

  test('every process gets settings that Tally takes', () => {
    for (const container of containersOf(manifests)) {
      const environment = environmentOf(container, manifests)
      const { NODE_EXTRA_CA_CERTS: _, ...settings } = environment
      expect({
        [container.name]: Object.keys(settings).filter(name => !settingNames.includes(name)),
      }).toEqual({
        [container.name]: [],
      })
      readSettings(settings)
    }
  })

  test('every process gets the settings that were given, and no secret of another', () => {
    for (const container of containersOf(manifests)) {
      const environment = environmentOf(container, manifests)
      expect(environment.REDIS_URL).toBe(secretSettings.REDIS_URL)
      expect(environment.DATABASE_URL).toBe(
        container.name === 'topics' ? undefined : secretSettings.DATABASE_URL,
      )
      if (container.name !== 'query') expect(environment.KAFKA_BROKERS).toBe('kafka-1:9092,kafka-2:9092')
      const isAdmin = container.name === 'admin'
      if (!isAdmin) expect(Object.keys(environment).filter(name => name.startsWith('ADMIN_'))).toEqual([])
    }
  })

  test('whatever selects pods selects those of one part, and their ports by name', () => {
    const labels = podsOf(manifests).map(({ metadata }) => Object.entries(metadata.labels).map(String))
    for (const { kind, metadata, spec } of manifests) {
      const selector = selectorOf(kind, spec)
      if (selector === undefined || metadata.name.endsWith('-hooks')) continue
      const selected = labels.filter(own => Object.entries(selector).every(one => own.includes(String(one))))
      expect({ kind, name: metadata.name, selected: selected.length }).toMatchObject({ selected: 1 })
    }
    const ports = containersOf(manifests).flatMap(({ ports = [] }) => ports.map(({ name }) => name))
    const targets = manifests.flatMap(({ kind, spec }) =>
      kind === 'Service' ? (spec.ports as { targetPort: string }[]).map(({ targetPort }) => targetPort) : [],
    )
    expect(targets.filter(target => !ports.includes(target))).toEqual([])
  })

  test('no pod writes to its file system, has rights, or gets variables of Services', () => {
    for (const { spec } of podsOf(manifests)) {
      expect(spec).toMatchObject({
        enableServiceLinks: false,
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      })
      for (const { securityContext } of spec.containers)
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })
})

test.each(samples.slice(-2))('helm finds nothing to complain about in %s', async (_, values) => {
  const args = ['lint', '--strict', chart, ...kubeVersion, '--values', '-']
  const { stdout } = await run(helm, args, { input: JSON.stringify(values) })
  expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed')
})

test('the chart takes every setting but the ports, which it fixes', () => {
  const names = [...schema.settings.propertyNames.enum, ...schema.secrets.propertyNames.enum]
  const fixed = ['ADMIN_PORT', 'OPS_PORT', 'QUERY_PORT', ...Object.keys(databaseUrls)]
  expect(names.filter(name => !fixed.includes(name)).sort()).toEqual(
    settingNames.filter(name => !fixed.includes(name)).sort(),
  )
})

const servers = [{ ipBlock: { cidr: '10.1.0.0/16' } }]
const closed: Values = { enabled: true, servers }

test.each<[string, Values, RegExp]>([
  ['a misspelt value', { ...least, projector: { autoscaling: { enable: true } } }, /enable/],
  ['an unknown setting', { ...least, settings: { KAFKA_BROKER: 'kafka:9092' } }, /KAFKA_BROKER/],
  ['a value of the wrong type', { ...least, query: { replicas: 'two' } }, /replicas/],
  ['no address of Kafka', { secrets: least.secrets ?? {} }, /set settings\.KAFKA_BROKERS/],
  [
    'no address of Postgres',
    { ...least, secrets: { REDIS_URL: 'redis://r' } },
    /set existingSecret, or secrets\.DATABASE_URL/,
  ],
  [
    'no address for migrate',
    { ...least, migrate: { databaseUrlKey: 'MIGRATE_DATABASE_URL' } },
    /secrets\.MIGRATE_DATABASE_URL/,
  ],
  [
    'no address for a role of the query processes',
    { ...least, query: { databaseUrlKey: 'QUERY_DATABASE_URL' } },
    /secrets\.QUERY_DATABASE_URL/,
  ],
  ['policies without servers', { ...least, networkPolicy: { enabled: true } }, /set networkPolicy\.servers/],
  [
    'policies that shut an Ingress out',
    { ...least, networkPolicy: closed, query: { ingress: { enabled: true, host: 'a.example.org' } } },
    /set networkPolicy\.clients/,
  ],
  [
    'policies that shut Prometheus out',
    { ...least, networkPolicy: closed, monitoring: { serviceMonitor: { enabled: true } } },
    /set networkPolicy\.monitoring/,
  ],
  [
    'an Ingress without a host',
    { ...least, query: { ingress: { enabled: true } } },
    /set query\.ingress\.host/,
  ],
])('refuses %s', async (_, values, complaint) => {
  await expect(render(helm, values)).rejects.toThrow(complaint)
})

test('no more projectors than shards are started by themselves', async () => {
  const scaled = async (maxReplicas: number, partitions: number, minReplicas = 1) => {
    const values = {
      ...least,
      topics: { partitions },
      projector: { autoscaling: { enabled: true, minReplicas, maxReplicas } },
    }
    return (await render(helm, values)).find(({ kind }) => kind === 'ScaledObject')?.spec
  }
  expect(await scaled(100, 30)).toMatchObject({ minReplicaCount: 1, maxReplicaCount: 30 })
  expect(await scaled(4, 30)).toMatchObject({ maxReplicaCount: 4 })
  // KEDA refuses a minimum above the maximum.
  expect(await scaled(12, 6, 8)).toMatchObject({ minReplicaCount: 6, maxReplicaCount: 6 })
})

test('several projectors are replaced one by one, a single one by starting the new one first', async () => {
  const strategy = async (projector: Values) => {
    const manifests = await render(helm, { ...least, projector })
    const deployment = manifests.find(
      one => one.kind === 'Deployment' && one.metadata.name.endsWith('-projector'),
    )
    return deployment?.spec.strategy
  }
  const oneByOne = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
  const newOneFirst = { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
  expect(await strategy({ replicas: 3 })).toEqual(oneByOne)
  expect(await strategy({ replicas: 1 })).toEqual(newOneFirst)
  expect(await strategy({ autoscaling: { enabled: true, minReplicas: 2 } })).toEqual(oneByOne)
  expect(await strategy({ autoscaling: { enabled: true } })).toEqual(newOneFirst)
})

test('hooks may reach their servers before anything else of the release exists', async () => {
  const values = { ...least, migrate: { contract: true }, networkPolicy: closed }
  const manifests = await render(helm, values)
  const hookOf = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook']?.split(',') ?? []
  const jobs = manifests.filter(({ kind }) => kind === 'Job')
  const policy = manifests.find(
    ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith('-hooks'),
  ) as Manifest
  expect(new Set(hookOf(policy))).toEqual(new Set(jobs.flatMap(hookOf)))
  expect(policy.metadata.annotations).toMatchObject({ 'helm.sh/hook-weight': '-1' })
})

test('each service connects to Postgres with the key of its own role', async () => {
  const url = (service: string) => `postgres://tally_${service}:p@postgres:5432/tally`
  const services = ['query', 'projector', 'admin', 'migrate']
  const keys = services.map(service => [service, `${service.toUpperCase()}_DATABASE_URL`] as const)
  const manifests = await render(helm, {
    settings: { KAFKA_BROKERS: 'kafka:9092' },
    secrets: {
      REDIS_URL: 'redis://r',
      ...Object.fromEntries(keys.map(([service, key]) => [key, url(service)])),
    },
    ...Object.fromEntries(keys.map(([service, databaseUrlKey]) => [service, { databaseUrlKey }])),
  })
  const seen = containersOf(manifests).map(container => [
    container.name,
    environmentOf(container, manifests).DATABASE_URL,
  ])
  expect(Object.fromEntries(seen)).toEqual(
    Object.fromEntries(services.map(service => [service, url(service)])),
  )
})

test('with policies, a port is open only to the clients that are named for it', async () => {
  const from = (name: string) => [{ podSelector: { matchLabels: { name } } }]
  type Rule = { ports: { port: string | number }[]; from?: unknown; to?: unknown }
  const rules = async (policy: Values, direction: 'ingress' | 'egress') => {
    const manifests = await render(helm, { ...least, networkPolicy: { enabled: true, servers, ...policy } })
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy')
    for (const { spec } of policies) expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
    return Object.fromEntries(
      policies.map(({ metadata, spec }) => [
        metadata.name.replace('shop-tally-', ''),
        ((spec[direction] as Rule[] | null) ?? []).map(({ ports, from, to }) => [
          ports.map(one => one.port),
          from ?? to,
        ]),
      ]),
    )
  }
  expect(await rules({}, 'ingress')).toEqual({ projector: [], query: [], admin: [], hooks: [] })
  const named = { clients: from('ingress'), adminClients: from('vpn'), monitoring: from('prometheus') }
  const ops = [['ops'], from('prometheus')]
  expect(await rules(named, 'ingress')).toEqual({
    projector: [ops],
    query: [[['http'], from('ingress')], ops],
    admin: [[['http'], from('vpn')], ops],
    hooks: [],
  })
  const out = [
    [[53, 53], undefined],
    [[9092, 5432, 6379], servers],
  ]
  expect(await rules(named, 'egress')).toEqual({ projector: out, query: out, admin: out, hooks: out })
})

test('a changed secret replaces the pods', async () => {
  const sums = async (password: string) => {
    const REDIS_URL = `redis://:${password}@redis:6379`
    const pods = podsOf(await render(helm, { ...least, secrets: { ...secretSettings, REDIS_URL } }))
    return pods.map(({ metadata }) => JSON.stringify(metadata))
  }
  const [one, other] = [await sums('one'), await sums('other')]
  expect(one.filter(metadata => other.includes(metadata))).toEqual([])
})

test.each([
  [{}, 'docs/runbook.md'],
  [{ ADMIN_URL: 'https://area.example.org/' }, 'https://area.example.org/operations/runbook'],
])(
  'the PrometheusRule of settings with %j has the rules of infra/monitoring, which link to %s',
  async (more, page) => {
    const settings = { KAFKA_BROKERS: 'kafka:9092', ...more }
    const values = { ...least, settings, monitoring: { prometheusRule: { enabled: true } } }
    const rule = (await render(helm, values)).find(({ kind }) => kind === 'PrometheusRule')
    const rules = readFileSync(join(root, 'infra/monitoring/alerts.yaml'), 'utf8')
    expect(rule?.spec).toEqual(parse(rules.replaceAll('docs/runbook.md', page)))
  },
)

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lines = readFileSync(join(chart, 'Chart.yaml'), 'utf8').split('\n')
  expect(lines).toContain(`version: ${version}`)
  expect(lines).toContain(`appVersion: ${version}`)
})

const containersOf = (manifests: Manifest[]): Container[] =>
  podsOf(manifests).flatMap(({ spec }) => spec.containers)

/** The environment that a container sees: with the Secret of the release, or one that has every secret setting. */
function environmentOf({ env }: Container, manifests: Manifest[]): Record<string, string> {
  const known = new Map(
    manifests.map(({ kind, metadata, stringData }) => [`${kind} ${metadata.name}`, stringData]),
  )
  const whole: Record<string, string> = { ...secretSettings, ...databaseUrls }
  const seenAs = ({ value, valueFrom }: Container['env'][number]): string | undefined => {
    if (valueFrom === undefined) return value
    const { name, key, optional = false } = valueFrom.secretKeyRef
    const data = name === 'kept-apart' ? whole : known.get(`Secret ${name}`)
    if (data?.[key] === undefined && !optional)
      throw new Error(`the pod waits for ${key} of the Secret ${name}`)
    return data?.[key]
  }
  return Object.fromEntries(
    env.flatMap(one => {
      const value = seenAs(one)
      return value === undefined ? [] : [[one.name, value]]
    }),
  )
}

/** The labels by which an object of this kind finds its pods. */
function selectorOf(kind: string, spec: Manifest['spec']): Record<string, string> | undefined {
  if (kind === 'Service') return spec.selector as Record<string, string>
  const key = kind === 'NetworkPolicy' ? 'podSelector' : 'selector'
  if (!['NetworkPolicy', 'Deployment', 'PodDisruptionBudget'].includes(kind)) return undefined
  return (spec[key] as { matchLabels: Record<string, string> }).matchLabels
}
