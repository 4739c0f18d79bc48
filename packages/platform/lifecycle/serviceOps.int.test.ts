import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { createMetrics, type MetricName, metricHelp } from '../metrics.ts'
import { createLifecycle } from './lifecycle.ts'
import { openOps, type Readiness } from './serviceOps.ts'

const lifecycle = createLifecycle(createLogger('test', 'silent'))
afterEach(() => lifecycle.release())

async function openWith(readiness: Readiness, metrics = createMetrics('query'), maxConnections = 100) {
  const address = await openOps(
    lifecycle,
    { host: '127.0.0.1', port: 0, maxConnections },
    { metrics, readiness },
  )
  return Object.assign((path: string) => fetch(`${address}${path}`), { port: Number(new URL(address).port) })
}

test('a process that runs is live, ready or not', async () => {
  const get = await openWith(() => 'no group yet')
  const answer = await get('/livez')
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'live' }])
})

test('a process that is not ready says what is missing, and becomes ready when nothing is', async () => {
  let missing: string | undefined = 'Kafka has not answered for 30 s'
  const get = await openWith(async () => missing)
  const before = await get('/readyz')
  expect([before.status, await before.json()]).toEqual([503, { status: 'not ready', missing }])
  missing = undefined
  const after = await get('/readyz')
  expect([after.status, await after.json()]).toEqual([200, { status: 'ready' }])
})

test('the metrics are those of the process, in the format of Prometheus', async () => {
  const metrics = createMetrics('query')
  metrics
    .counter('tally_projector_records_total', ['topic', 'outcome'])
    .inc({ topic: 't', outcome: 'applied' }, 3)
  const get = await openWith(() => undefined, metrics)
  const answer = await get('/metrics')
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await answer.text()
  expect(text).toContain('tally_projector_records_total{topic="t",outcome="applied"} 3')
  expect(text).toContain('process_cpu_seconds_total')
})

test('a connection whose request never ends its headers or its body is closed after 10 s', async () => {
  const { port } = await openWith(() => undefined)
  const began = performance.now()
  const closed = async (beginning: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(beginning)
    await once(socket.resume(), 'close')
  }
  await Promise.all([
    closed('GET /livez HTTP/1.1\r\nHost: a\r\n'),
    closed('POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n'),
  ])
  expect(performance.now() - began).toBeLessThan(25_000)
})

test('a connection beyond the limit is closed at once', async () => {
  const { port } = await openWith(() => undefined, createMetrics('query'), 2)
  const open = async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  const kept = [await open(), await open()]
  const began = performance.now()
  await once((await open()).resume(), 'close')
  // The kept ones are closed after 10 s without a request.
  expect(performance.now() - began).toBeLessThan(5_000)
  for (const socket of kept) socket.destroy()
})

test('an unknown path is not found', async () => {
  const get = await openWith(() => undefined)
  expect((await get('/')).status).toBe(404)
})

test('two registries in one process are independent', async () => {
  const [one, other] = [createMetrics('query'), createMetrics('query')]
  one.gauge('tally_projector_lag_records', ['topic']).set({ topic: 't' }, 1)
  expect(await other.registry.metrics()).not.toContain('tally_projector_lag_records')
})

test('every metric has a name of Prometheus and a sentence', () => {
  for (const [name, help] of Object.entries(metricHelp) as [MetricName, string][]) {
    expect(name).toMatch(/^tally_[a-z]+_[a-z_]+$/)
    expect(help).toMatch(/^[A-Z].{10,}[^.]$/)
  }
})
