import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { log, packagesOf } from './programs.ts'

/** docs/guides/recipes/esphome: checked and turned into C++ by ESPHome, not compiled: that needs its toolchain. */
const recipe = join(import.meta.dirname, '../../docs/guides/recipes/esphome/counter.yaml')
const folder = mkdtempSync(join(tmpdir(), 'tally-esphome-'))
const file = join(folder, 'counter.yaml')
const tally = useTally()
let esphome: string

beforeAll(async () => {
  esphome = (await pythonPrograms(packagesOf('espHome.txt'), log))('esphome')
  copyFileSync(recipe, file)
  const secrets = {
    wifi_ssid: 'festival',
    wifi_password: 'a-long-password',
    tally_token: 'tally_token_of_test',
  }
  writeFileSync(
    join(folder, 'secrets.yaml'),
    Object.entries(secrets)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

test('ESPHome finds nothing wrong with the configuration', async () => {
  const { output } = await run(esphome, ['config', file])
  expect(output).toContain('Configuration is valid!')
})

test('ESPHome generates a program that asks with the token and the ETag', async () => {
  const { output } = await run(esphome, ['compile', '--only-generate', file])
  expect(output).toContain('Successfully generated source code')
  const generated = readFileSync(join(folder, '.esphome/build/tally-counter/src/main.cpp'), 'utf8')
  for (const part of [
    'item-counts?menuItemIds=7,9',
    'tally_token_of_test',
    'If-None-Match',
    'json::parse_json',
  ])
    expect(generated).toContain(part)
})

test('an answer of two items with the longest names fits into the buffer', async () => {
  const size = Number(/max_response_buffer_size: (\d+)kB/.exec(readFileSync(recipe, 'utf8'))?.[1]) * 1000
  const festival = newFestival()
  const menuItems = [7, 9].map(menuItemId => ({ menuItemId, name: '€'.repeat(200), categoryName: '' }))
  await tally.count([festival.organization(), festival.event({ menuItems }), festival.order()])
  const token = await tally.key(festival.organizationId)
  const reply = await tally.get(`${festival.path}/live/item-counts?menuItemIds=7,9`, { token })
  expect(reply.body.data).toHaveLength(2)
  expect(Buffer.byteLength(reply.text)).toBeLessThan(size)
})
