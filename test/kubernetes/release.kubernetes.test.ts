import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { goProgram, helm as helmProgram } from '#infra/install/goPrograms.ts'
import { apply, createNamespace, deleteNamespace, kubectl, kubectlJson } from './cluster.ts'
import { chart, type Values } from './render.ts'
import { type Servers, startServers } from './servers.ts'

/** One release of the chart, from its installation to its removal: the tests build on each other. */
const namespace = `tally-release-${process.pid}`
const serversNamespace = `${namespace}-servers`
const image = process.env.TALLY_IMAGE || 'tally:test'
const partitions = 3
let helm: string
let servers: Servers

beforeAll(async () => {
  helm = await goProgram(helmProgram, line => void process.stderr.write(`${line}\n`))
  await createNamespace(namespace, 'restricted')
  await createNamespace(serversNamespace, 'baseline')
  servers = await startServers(serversNamespace)
  // Services with these names once gave every pod a QUERY_PORT and an ADMIN_PORT that were not ports.
  const service = (name: string) => ({ kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })
  await apply(
    ['query', 'admin'].map(name => ({ apiVersion: 'v1', ...service(name) })),
    '--namespace',
    namespace,
  )
})
afterAll(async () => {
  await deleteNamespace(namespace)
  await deleteNamespace(serversNamespace)
})

const inRelease = (...args: string[]) => kubectl(['--namespace', namespace, ...args])
const podsOf = async (component: string): Promise<string[]> => {
  const selector = `app.kubernetes.io/component=${component}`
  const { items } = await kubectlJson('--namespace', namespace, 'get', 'pods', '--selector', selector)
  type Item = { metadata: { name: string; deletionTimestamp?: string } }
  return (items as Item[]).filter(one => !one.metadata.deletionTimestamp).map(one => one.metadata.name)
}
const rolledOut = (component: string) =>
  inRelease('rollout', 'status', `deployment/tally-${component}`, '--timeout=300s')
/** Runs a command of Tally in a pod of the release; returns what it prints on stdout. */
const tally = async (component: string, ...args: string[]): Promise<string> =>
  (await inRelease('exec', `deployment/tally-${component}`, '--', 'tally', ...args)).stdout

/** Installs the release, or upgrades it, with these values in addition; returns when all its pods are ready. */
async function release(values: Values): Promise<void> {
  const [repository = '', tag = ''] = image.split(/:(?=[^:/]*$)/)
  const own: Values = {
    image: { repository, tag },
    topics: { create: true, partitions, replicationFactor: 1 },
    networkPolicy: {
      enabled: true,
      clients: [{ podSelector: {} }],
      servers: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': serversNamespace } } }],
    },
    ...values,
    settings: {
      KAFKA_BROKERS: servers.kafkaBrokers,
      RATE_LIMITS: 'Trial=999999,ActiveDayPass=999999,Inactive=999999',
      ...(values.settings as Values),
    },
  }
  const args = [
    'upgrade',
    '--install',
    'tally',
    chart,
    '--namespace',
    namespace,
    '--wait',
    '--timeout',
    '10m',
  ]
  await run(helm, [...args, '--values', '-'], { input: JSON.stringify(own) }).catch(async error => {
    throw new Error(`${error}\n${(await inRelease('get', 'pods,jobs,events')).output}`)
  })
}

test('helm installs the release: its hooks first, then pods that become ready', async () => {
  await release({ secrets: { DATABASE_URL: servers.databaseUrl, REDIS_URL: servers.redisUrl } })
  expect(await podsOf('projector')).toHaveLength(2)
  expect(await podsOf('query')).toHaveLength(2)
  expect(await podsOf('admin')).toHaveLength(1)
  expect(await tally('projector', 'offsets')).toContain('tally.orders')
  expect((await inRelease('get', 'jobs,secrets', '--output', 'name')).stdout).not.toMatch(
    /hooks|migrate|topics/,
  )
})

test('the API answers through its Service', async () => {
  await tally('projector', 'feed', '--orders', '300', '--rate', '0')
  await untilApplied()
  await startLoad(await newToken())
  await untilMoreAnswers(20)
})

test('a rolling update under load refuses no request', async () => {
  const before = await podsOf('query')
  await untilMoreAnswers(100)
  await inRelease('rollout', 'restart', 'deployment/tally-query')
  await rolledOut('query')
  await untilGone(before)
  await untilMoreAnswers(100)
  expect(Object.keys(await outcomes())).toEqual(['200'])
})

test('of two query processes one can be evicted, the second only when the first is replaced', async () => {
  const [one = '', other = ''] = await podsOf('query')
  const evict = (name: string) => {
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
    return kubectl(['create', '--raw', path, '--filename', '-'], JSON.stringify(eviction))
  }
  await evict(one)
  await expect(evict(other)).rejects.toThrow("would violate the pod's disruption budget")
  await untilGone([one])
  await rolledOut('query')
  await evict(other)
  await untilGone([other])
  await rolledOut('query')
})

test('a projector that is deleted by force loses and repeats no record', async () => {
  const feed = tally('admin', 'feed', '--orders', '1500', '--rate', '150', '--date', '2026-09-05')
  const [one = ''] = await podsOf('projector')
  await untilMoreRecords(200)
  await inRelease('delete', 'pod', one, '--force', '--grace-period=0')
  await feed
  await rolledOut('projector')
  await untilApplied()
  // Exit status 1 if one figure differs.
  await tally('projector', 'verify')
})

test('an upgrade runs the hooks again, replaces all pods, and refuses no request', async () => {
  const before = [await podsOf('query'), await podsOf('projector'), await podsOf('admin')].flat()
  await apply(
    [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'kept-apart' },
        stringData: { DATABASE_URL: servers.databaseUrl, REDIS_URL: servers.redisUrl },
      },
    ],
    '--namespace',
    namespace,
  )
  await release({ existingSecret: 'kept-apart', settings: { LOG_LEVEL: 'debug' } })
  await untilGone(before)
  await untilMoreAnswers(50)
  expect(Object.keys(await outcomes())).toEqual(['200'])
  expect(await tally('projector', 'verify')).toBe('')
})

test('helm removes all that it made', async () => {
  await run(helm, ['uninstall', 'tally', '--namespace', namespace, '--wait'])
  const kinds =
    'deployments,jobs,services,secrets,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers'
  const selector = 'app.kubernetes.io/instance=tally'
  expect((await inRelease('get', kinds, '--selector', selector, '--output', 'name')).stdout).toBe('')
})

async function newToken(): Promise<string> {
  const { organizationId } = JSON.parse(
    (await tally('query', 'feed', '--list-organizations', '--json')).split('\n')[0] ?? '',
  )
  const scopes = ['--scope', 'events:read']
  const args = ['keys', 'create', '--organization', organizationId, '--name', 'load', ...scopes, '--json']
  return JSON.parse(await tally('query', ...args)).token
}

/** Starts the clients of load.mjs in a pod. */
async function startLoad(token: string): Promise<void> {
  const env = { URL: 'http://tally-query/api/v1/events', TOKEN: token }
  const script = readFileSync(join(import.meta.dirname, 'load.mjs'), 'utf8')
  const container = {
    name: 'load',
    image,
    command: ['node', '--input-type=module', '--eval', script],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }
  const securityContext = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } }
  const spec = { enableServiceLinks: false, securityContext, containers: [container] }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'load' }, spec }
  await apply([pod], '--namespace', namespace)
  await inRelease('wait', '--for=condition=Ready', 'pod/load', '--timeout=120s')
}

/** How many requests had which outcome since the load began. */
async function outcomes(): Promise<Record<string, number>> {
  const { stdout } = await inRelease('logs', 'load', '--tail=1')
  return stdout === '' ? {} : JSON.parse(stdout)
}

async function untilMoreAnswers(count: number): Promise<void> {
  const answered = async () => Object.values(await outcomes()).reduce((sum, one) => sum + one, 0)
  const wanted = (await answered()) + count
  await until(`${count} more requests have an outcome`, async () => (await answered()) >= wanted)
}

type Partition = { applied: number | null; logEnd: number | null }
const offsets = async (): Promise<Partition[]> =>
  (await tally('projector', 'offsets', '--json'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))

async function untilMoreRecords(count: number): Promise<void> {
  const applied = async () => (await offsets()).reduce((sum, { applied }) => sum + (applied ?? 0), 0)
  const wanted = (await applied()) + count
  await until(`${count} more records are applied`, async () => (await applied()) >= wanted)
}

const untilApplied = () =>
  until('all records are applied', async () =>
    (await offsets()).every(one => (one.applied ?? 0) === one.logEnd),
  )

const untilGone = (pods: string[]) =>
  until(`the pods ${pods} are gone`, async () => {
    const { stdout } = await inRelease('get', 'pods', '--output', 'name')
    return pods.every(name => !stdout.includes(name))
  })
