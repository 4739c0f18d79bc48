import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asyncApiDocument } from '@tally/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { installTools, type Tools } from './tools.ts'

const root = join(import.meta.dirname, '../..')
const openApi = join(root, 'packages/contract/openapi.json')
const folder = mkdtempSync(join(tmpdir(), 'tally-documents-'))
let tools: Tools

beforeAll(async () => {
  tools = await installTools()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a tool of the checkout's Node without a call home; what it prints, also if it fails. */
const ran = (name: string, args: string[]): Promise<string> =>
  run(tools.program(name), args, {
    cwd: folder,
    env: { PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`, REDOCLY_TELEMETRY: 'off' },
    errorLines: 60,
  }).then(
    ({ output }) => output,
    error => `failed: ${error}`,
  )

/** All rules of spectral's OpenAPI ruleset but these: order of tags, url of a licence with an identifier, contact. */
const rulesOff = { 'openapi-tags-alphabetical': 'off', 'license-url': 'off', 'contact-properties': 'off' }

test('spectral finds nothing in the OpenAPI document, not even a hint', async () => {
  const ruleset = join(folder, 'spectral.yaml')
  writeFileSync(ruleset, `extends: [["spectral:oas", all]]\nrules: ${JSON.stringify(rulesOff)}\n`)
  const output = await ran('spectral', ['lint', openApi, '--ruleset', ruleset, '--fail-severity', 'hint'])
  expect(output).toContain("No results with a severity of 'hint' or higher found!")
})

test('redocly finds nothing in the OpenAPI document, not even a warning', async () => {
  const output = await ran('redocly', ['lint', openApi])
  expect(output).toContain('Your API description is valid')
  expect(output).not.toMatch(/warning|failed/i)
})

type Parsed = { document?: unknown; diagnostics: { severity: number; message: string }[] }

test('the AsyncAPI document is valid and has no warning', async () => {
  const { Parser } = tools.load('@asyncapi/parser') as {
    Parser: new () => { parse: (text: string) => Promise<Parsed> }
  }
  const parse = (document: object) => new Parser().parse(JSON.stringify(document))
  const document = asyncApiDocument({ topicPrefix: 'tally' })
  const { diagnostics, document: parsed } = await parse(document)
  // Severity 2 and 3 are information and hints: that AsyncAPI 3.1 exists.
  expect(diagnostics.filter(({ severity }) => severity < 2)).toEqual([])
  expect(parsed).toBeDefined()
  const { asyncapi, info } = document
  const wrong = { asyncapi, info, channels: { orders: { bindings: { kafka: { partitions: 'six' } } } } }
  expect((await parse(wrong)).document).toBeUndefined()
})

test('the AsyncAPI document says the keys, the partitions and the partitioner in Kafka bindings', () => {
  const { channels, components } = JSON.parse(JSON.stringify(asyncApiDocument({ topicPrefix: 'sagra' })))
  for (const [type, partitions] of Object.entries({ organizations: 1, events: 6, orders: 6, refunds: 6 })) {
    expect(channels[type].bindings.kafka).toMatchObject({
      topic: `sagra.${type}`,
      partitions,
      'x-partitioner': 'murmur2',
    })
    expect(components.messages[type].bindings.kafka.key).toMatchObject({
      type: 'string',
      pattern: expect.any(String),
    })
  }
})

test('the versions of the tools are fixed, and each is under an integrity', () => {
  const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, 'tools/package-lock.json'), 'utf8'))
  const bare = Object.entries<{ integrity?: string; inBundle?: true }>(packages).filter(
    ([path, { integrity, inBundle }]) => path !== '' && integrity === undefined && inBundle !== true,
  )
  expect(bare).toEqual([])
})
