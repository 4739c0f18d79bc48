import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { burger, cake, newFestival, water } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nodeRedFolder } from '#infra/install/nodeRed.ts'
import { end, endOfLog, launch, type Running } from '#infra/servers/process.ts'
import { type Gate, openGate } from './gate.ts'
import { type Broker, startMosquitto } from './mosquitto.ts'

/** docs/guides/recipes/node-red/flow.json in Node-RED's own runtime, with a real MQTT broker. */
const flowFile = join(import.meta.dirname, '../../docs/guides/recipes/node-red/flow.json')
const tally = useSharedTally()
const festival = newFestival()
const userDir = mkdtempSync(join(tmpdir(), 'tally-node-red-'))
const logFile = join(userDir, 'log')
const displays: Display[] = []
let folder: string
let broker: Broker
let gate: Gate
let nodeRed: Running

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event(), festival.order()])
  folder = await nodeRedFolder(console.error)
  gate = await openGate(tally.queries[0]?.address ?? '')
  broker = await startMosquitto()
  for (let number = 1; number <= 5; number++) displays.push(openDisplay())
  nodeRed = await startFlow()
})

afterAll(async () => {
  for (const { close } of displays) close()
  if (nodeRed !== undefined) await end(nodeRed, 'SIGTERM')
  await broker?.stop()
  await gate?.close()
  rmSync(userDir, { recursive: true })
})

test('one poller feeds five displays, and publishes no count again on a 304', async () => {
  await untilAllShow({ [burger]: '2', [water]: '1' })
  // A display hears a count twice when the flow, or the display itself, connects after the first poll.
  const untilPolled = (times: number) =>
    until('displays follow the polls', () =>
      displays.every(({ heard }) => (heard.get(topic('asOf'))?.length ?? 0) > times),
    )
  await untilPolled(3)
  const begun = displays.map(({ heard }) => heard.get(topic(`items/${burger}/sold`))?.length)
  await untilPolled(8)
  expect(gate.passed.at(-1)?.status).toBe(304)
  await tally.count([festival.order()])
  await untilAllShow({ [burger]: '4', [water]: '2' })

  for (const [at, { heard }] of displays.entries()) {
    expect(heard.get(topic(`items/${burger}/sold`))?.slice(begun[at])).toEqual(['4'])
    expect(heard.get(topic(`items/${burger}/name`))?.at(-1)).toBe('Burger')
    expect(Date.parse(heard.get(topic('asOf'))?.at(-1) ?? '')).toBeGreaterThan(Date.now() - 60_000)
    expect(heard.get('tally/bridge')?.at(-1)).toBe('online')
  }
  expect(new Set(gate.passed.map(({ path }) => path))).toEqual(new Set([`${festival.path}/live/item-counts`]))
})

test('an item that leaves the answer shows 0', async () => {
  const items = [{ menuItemId: cake, itemName: 'Cake', quantity: 1, unitPrice: 3, note: null }]
  const order = { orderId: 'cake', amountPaid: 3, totalAmount: 3, items }
  await tally.count([festival.order({ ...order, version: 1 })])
  await untilAllShow({ [cake]: '1' })
  await tally.count([festival.order({ ...order, version: 2, status: 'Cancelled' })])
  await untilAllShow({ [cake]: '0', [burger]: '4', [water]: '2' })
})

test('a display shows that more came back than was sold', async () => {
  const items = [{ menuItemId: cake, itemName: 'Cake', quantity: -3, unitPrice: 2, note: null }]
  await tally.count([festival.order({ amountPaid: 0, totalAmount: -6, items })])
  await untilAllShow({ [cake]: '-3' })
})

test('what was sold while the broker was away is on all displays, and on one that is switched on', async () => {
  const items = [{ menuItemId: cake, itemName: 'Cake', quantity: 4, unitPrice: 2, note: null }]
  const sell = () => tally.count([festival.order({ amountPaid: 8, totalAmount: 8, items })])
  const isPublished = (sold: number) => {
    const asked = gate.passed.length
    return until(`the flow has had ${sold}`, () =>
      gate.passed.slice(asked).some(({ status }) => status === 304),
    )
  }
  await broker.end()
  await sell()
  await isPublished(1)
  broker.start()
  displays.push(openDisplay())
  await untilAllShow({ [cake]: '1', [burger]: '4', [water]: '2' })

  broker.signal('SIGSTOP')
  await sell()
  await isPublished(5)
  broker.signal('SIGKILL')
  await broker.end()
  broker.start()
  displays.push(openDisplay())
  await untilAllShow({ [cake]: '5', [burger]: '4', [water]: '2' })
})

test('what a proxy or a portal answers changes no display, and the flow goes on', async () => {
  for (const answer of [
    { status: 404, headers: { 'Content-Type': 'text/plain' }, body: '404 page not found' },
    { status: 403, body: '<title>Forbidden</title>' },
    { status: 200, headers: { ETag: '"portal"' }, body: '<title>Sign in</title>' },
    { status: 200, body: '' },
    { status: 200, body: '{"data":[{"menuItemId":7,"quantitySold":9' },
    { status: 200, body: '{"message":"ok"}' },
    { status: 304 },
    { status: 302, headers: { Location: '/sign-in' } },
    { status: 0 },
  ]) {
    const asked = gate.passed.length
    gate.answerNext(answer)
    await until(`a poll after ${answer.status} ${answer.body}`, () => gate.passed.length > asked + 1)
    const next = gate.passed.slice(asked).map(({ status }) => status)
    expect(next.slice(0, 2)).toEqual([answer.status, 304])
  }
  expect(new Set(gate.passed.map(({ path }) => path))).toEqual(new Set([`${festival.path}/live/item-counts`]))
  await tally.count([festival.order()])
  await untilAllShow({ [burger]: '6', [water]: '3', [cake]: '5' })
  for (const { heard } of displays)
    expect([...heard.keys()].filter(name => /undefined/.test(name))).toEqual([])
  expect(endOfLog(logFile)).not.toMatch(/Tally answered [A-Z]/)
})

test('the flow waits as long as a 429 says', async () => {
  gate.answerNext({ status: 429, headers: { 'Retry-After': '3' } })
  const refused = () => gate.passed.findIndex(({ status }) => status === 429)
  await until('the next poll after the refusal', () => {
    const at = refused()
    return at >= 0 && gate.passed.length > at + 1
  })
  const [before, after] = gate.passed.slice(refused(), refused() + 2)
  expect((after?.at ?? 0) - (before?.at ?? 0)).toBeGreaterThanOrEqual(2_900)
  expect(after?.status).toBe(304)
})

test('the flow waits 60 s if a 429 says a date', async () => {
  gate.answerNext({ status: 429, headers: { 'Retry-After': new Date(Date.now() + 3_000).toUTCString() } })
  const warnings = () => endOfLog(logFile).match(/the next poll is in \w+ s/g) ?? []
  await until('the flow is refused once more', () => warnings().length > 1)
  expect(warnings().at(-1)).toBe('the next poll is in 60 s')
})

/** Runs the flow as it is, but with a poll each second. */
async function startFlow(): Promise<Running> {
  const flow = JSON.parse(readFileSync(flowFile, 'utf8')) as { type: string; repeat?: string }[]
  const faster = flow.map(node => (node.type === 'inject' ? { ...node, repeat: '1' } : node))
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(faster))
  const env = {
    TALLY_URL: gate.url,
    TALLY_TOKEN: await tally.key(festival.organizationId),
    TALLY_EVENT: festival.eventId,
    MQTT_HOST: '127.0.0.1',
    MQTT_PORT: String(broker.port),
  }
  const args = [join(import.meta.dirname, 'runFlow.mjs'), folder, userDir]
  return launch({ command: process.execPath, args, env, logFile, stopSignal: 'SIGTERM' })
}

/** What a display has heard: the messages of each topic, in their order. */
type Display = { heard: Map<string, string[]>; close: () => void }

/** A display that knows the MQTT broker and nothing of Tally. Connects again until the broker listens. */
function openDisplay(): Display {
  const { connect } = createRequire(join(folder, 'package.json'))('mqtt')
  const client = connect(`mqtt://127.0.0.1:${broker.port}`, { reconnectPeriod: 100 })
  const heard = new Map<string, string[]>()
  client.on('message', (name: string, payload: Buffer) => {
    heard.set(name, [...(heard.get(name) ?? []), String(payload)])
  })
  client.on('error', () => {})
  client.subscribe('tally/#', { qos: 1 })
  return { heard, close: () => client.end(true) }
}

const topic = (name: string) => `tally/${festival.eventId}/${name}`

async function untilAllShow(counts: Record<number, string>): Promise<void> {
  const shows = ({ heard }: Display) =>
    Object.entries(counts).every(([item, sold]) => heard.get(topic(`items/${item}/sold`))?.at(-1) === sold)
  await until('all displays show the counts', () => displays.every(shows)).catch(error => {
    throw new Error(`${error.message}\n${endOfLog(logFile)}\n${broker.log()}`)
  })
}
