import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ask } from '@tally/testkit/processes/http'
import { compiledFolder, program } from '@tally/testkit/processes/program'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeKafkaTransactions } from '#infra/install/kafkaTools.ts'
import { programPath } from '#infra/install/programs.ts'
import board from '../../infra/monitoring/board.json' with { type: 'json' }
import { startExporters } from './exporters.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { openIncidents, runbookBlocks } from './runbook.ts'
import { startTlsServer } from './tlsServer.ts'

/** A real Prometheus, with Debian's exporters, scrapes a real Tally. Durations of the rules are divided by 60. */
const tally = useTally()
const folder = mkdtempSync(join(tmpdir(), 'tally-monitoring-'))
const festival = newFestival()
const releases: (() => unknown)[] = [() => rmSync(folder, { recursive: true })]
afterAll(async () => {
  for (const release of releases.reverse()) await release()
})
/** Of the commands of the runbook, with their Debian packages. */
const programs = { curl: 'curl', openssl: 'openssl', psql: 'postgresql-client', 'redis-cli': 'redis-tools' }
let prometheus: Prometheus
let token: string
let area: string
let incidents: ReturnType<typeof openIncidents>
/** Of the commands of the runbook. */
let env: Record<string, string>

beforeAll(async () => {
  for (const [name, debianPackage] of Object.entries(programs))
    await programPath(
      { names: [name], debianPackage, neededBy: 'the commands of docs/runbook.md' },
      console.error,
    )
  await writeKafkaTransactions(join(folder, 'kafka-transactions.sh'), {
    log: console.error,
    signal: undefined,
  })
  await tally.count([festival.organization(), festival.event(), festival.order()])
  token = await tally.key(festival.organizationId)
  const admin = await tally.startAdmin()
  area = admin.address
  incidents = openIncidents(tally, festival)
  await incidents.reject()
  const tls = await startTlsServer(folder, () => 'a page')
  releases.push(tls.stop)
  const [redisUrl = ''] = (tally.settings.REDIS_URL ?? '').split(',')
  const exporters = await startExporters({ redisUrl, tls: tls.host, authority: tls.certificate }, folder)
  releases.push(exporters.stop)
  const services = { projector: await tally.projectors[0]?.started(), query: tally.queries[0], admin }
  const jobs = Object.entries(services).map(([name, service]) => ({
    name,
    target: new URL(service?.ops ?? '').host,
  }))
  prometheus = await startPrometheus([...jobs, ...exporters.jobs], folder)
  releases.push(prometheus.stop)
  env = {
    PATH: [dirname(program), folder, process.env.PATH].join(delimiter),
    NODE_COMPILE_CACHE: compiledFolder,
    ...tally.settings,
    QUERY: tally.queries[0]?.ops ?? '',
    ADMIN: admin.ops,
    API: `https://${tls.host}`,
    TLS: tls.host,
    // redis-cli takes a URL without a user for one of an empty name.
    REDIS: redisUrl.replace('//:', '//default:'),
    CURL_CA_BUNDLE: tls.certificate,
  }
}, 600_000)

/** Something to see: a sale, questions of a device, a page. */
async function use(): Promise<void> {
  await tally.produce([festival.order()])
  for (const path of ['/analytics/kpis', '/orders']) await tally.get(`${festival.path}${path}`, { token })
  await ask(area, '/')
}

const queries = board.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, legend: legendFormat, expr })),
)

test('every query of every panel of the board returns series', async () => {
  const missing = new Set(queries)
  await until(
    `there are series for ${[...missing].map(({ title, legend }) => `${title}, ${legend}`)}`,
    async () => {
      await use()
      for (const query of missing) {
        const series = await prometheus.query(
          query.expr.replaceAll('$namespace', '.*').replaceAll('$__rate_interval', '4s'),
        )
        if (series.some(({ value }) => Number.isFinite(Number(value[1])))) missing.delete(query)
      }
      return missing.size === 0
    },
  )
})

test('a projector that is stopped is missed, and the budget of freshness burns; then it is back', async () => {
  const fires = async (name: string) => (await prometheus.firing()).includes(name)
  await until('a certificate of two days is reported', () => fires('TallyCertificateExpires'))
  await until('all processes are there', async () => !(await fires('TallyProjectorAbsent')))

  await incidents.end()
  await until('the projector is missed', () => fires('TallyProjectorAbsent'))
  await until('figures are too old', () => fires('TallyFreshnessBudgetBurnsFast'))
})

test.for(runbookBlocks())('docs/runbook.md:$line works as it is written', async block => {
  const variables = await incidents.prepare(block)
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block.text], {
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const printed = (await Promise.all([text(child.stdout), text(child.stderr)])).join('')
  expect({ printed, status: (await ended)[0] }).toEqual({
    printed: expect.stringMatching(/\S/),
    status: block.exit,
  })
  // redis-cli ends with 0 also if it is refused.
  expect(printed).not.toContain('AUTH')
  await incidents.check(block)
})
