import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useTally } from '@tally/testkit/processes/tally'
import { burger, newFestival, water } from '@tally/testkit/records/festival'
import { serve } from '@tally/testkit/servers/serve'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { log, packagesOf } from './programs.ts'

/** docs/guides/recipes/home-assistant. What Home Assistant would fetch while it starts is installed with it. */
const recipe = join(import.meta.dirname, '../../docs/guides/recipes/home-assistant/tally.yaml')
const folder = mkdtempSync(join(tmpdir(), 'tally-home-assistant-'))
const festival = newFestival()
const tally = useTally()
let program: (name: string) => string

beforeAll(async () => {
  program = await pythonPrograms(packagesOf('homeAssistant.txt'), log)
  await tally.count([festival.organization(), festival.event(), festival.order()])
  await tally.count([festival.order({ orderId: 'A-1' }), festival.refund({ orderId: 'A-1' })])
  copyFileSync(recipe, join(folder, 'tally.yaml'))
  writeFileSync(
    join(folder, 'configuration.yaml'),
    'homeassistant:\n  packages:\n    tally: !include tally.yaml\n',
  )
  writeSecrets(await tally.key(festival.organizationId))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('Home Assistant finds nothing wrong with the configuration', async () => {
  const { output } = await run(program('hass'), ['--script', 'check_config', '-c', folder])
  expect(output).toContain('Testing configuration')
  expect(output).not.toMatch(/failed|invalid|error/i)
})

test('two requests fill nine sensors of Home Assistant’s rest integration', async () => {
  expect(await readSensors()).toEqual({
    'sensor.fritto_misto_sold': '3',
    'sensor.fritto_misto_refunded': '1',
    'sensor.acqua_sold': '2',
    'sensor.best_seller': 'Burger',
    'sensor.tally_as_of': expect.stringMatching(/^20\d\d-\d\d-\d\dT/),
    'sensor.takings': '42.5',
    'sensor.orders': '2',
    'sensor.portions': '5',
    'sensor.average_order': '21.25',
  })
})

test('sensors go below zero, and what came back is not a best seller', async () => {
  const items = [
    { menuItemId: burger, itemName: 'Burger', quantity: -5, unitPrice: 12.5, note: null },
    { menuItemId: water, itemName: 'Acqua', quantity: -4, unitPrice: 2.5, note: null },
  ]
  await tally.count([festival.order({ amountPaid: 0, totalAmount: -72.5, items })])
  expect(await readSensors()).toMatchObject({
    'sensor.fritto_misto_sold': '-2',
    'sensor.acqua_sold': '-2',
    'sensor.best_seller': 'none',
    'sensor.takings': '-30',
    'sensor.portions': '-4',
    'sensor.average_order': '-10',
  })
})

test('the sensors are unavailable while Tally answers an error', async () => {
  writeSecrets('wrong')
  const states = await readSensors()
  expect(Object.keys(states)).toHaveLength(9)
  expect(new Set(Object.values(states))).toEqual(new Set(['unavailable']))
})

test.for([
  { status: 404, body: '404 page not found' },
  { status: 403, body: '<title>Forbidden</title>' },
  { status: 200, body: '<title>Sign in</title>' },
  { status: 200, body: '' },
  { status: 200, body: '[]' },
  { status: 200, body: '{"data":[{"menuItemId":7,"quantitySold":9' },
  { status: 200, body: '{"data":null,"meta":null}' },
  { status: 200, body: '{"data":"ok","meta":{"page":1}}' },
])('no sensor has a figure of the answer $status $body, which is not of Tally', async ({ status, body }) => {
  const foreign = await serve((_, response) => response.writeHead(status).end(body))
  writeSecrets('any', foreign.url)
  const states = await readSensors().finally(foreign.close)
  expect(new Set(Object.values(states))).toEqual(new Set(['unavailable']))
})

function writeSecrets(token: string, address = tally.queries[0]?.address): void {
  const events = `${address}${festival.path}`
  const secrets = {
    tally_token: token,
    tally_item_counts: `${events}/live/item-counts?menuItemIds=7,9`,
    tally_kpis: `${events}/analytics/kpis`,
  }
  const lines = Object.entries(secrets).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
  writeFileSync(join(folder, 'secrets.yaml'), lines.join(''))
}

async function readSensors(): Promise<Record<string, string>> {
  const { stdout } = await run(program('python'), [join(import.meta.dirname, 'readSensors.py'), folder])
  return JSON.parse(stdout)
}
