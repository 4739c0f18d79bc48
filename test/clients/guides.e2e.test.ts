import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EventId, Scope } from '@tally/contract'
import { ask } from '@tally/testkit/processes/http'
import { useSharedTally } from '@tally/testkit/processes/sharedTally'
import { newFestival } from '@tally/testkit/records/festival'
import { serve } from '@tally/testkit/servers/serve'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '#infra/servers/ports.ts'
import { snippetsOf } from '../../services/admin/keys/snippets.ts'
import { type Block, readBlocks } from './blocks.ts'
import { useFolder } from './installClient.ts'
import { interpreters } from './interpreters.ts'

const tally = useSharedTally()
const festival = newFestival()
// Those of the guides for people who poll.
const blocks = readBlocks(['*.md', 'errors/*.md', 'dashboard/*.md'].map(pattern => `guides/${pattern}`))
const recipes = join(import.meta.dirname, '../../docs/guides/recipes')
/** A value of Home Assistant's secrets.yaml. */
const secret = { tag: '!secret', resolve: String }
const folder = useFolder()
let env: Record<string, string>

beforeAll(async () => {
  const item = (menuItemId: number, name: string) => ({ menuItemId, name, categoryName: 'Menu' })
  const menuItems = [item(7, 'Fritto misto'), item(9, 'Acqua')]
  await tally.count([festival.organization(), festival.event({ menuItems }), festival.order()])
  const TALLY_KEY = await tally.key(festival.organizationId)
  env = { TALLY_URL: tally.queries[0]?.address ?? '', TALLY_KEY, EVENT_ID: festival.eventId }
  // As the guides say.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'client.js'), (await ask(env.TALLY_URL ?? '', '/docs/client.js')).text)
})

test('the guides have programs in all languages, and none in a language that is not run', () => {
  expect([...new Set(blocks.map(({ language }) => language))].toSorted()).toEqual(
    Object.keys(interpreters).toSorted(),
  )
})

test.for(blocks)('$file:$line works as it is written ($language)', async block => {
  const interpret = interpreters[block.language]
  if (interpret === undefined) throw new Error(`nothing runs ${block.language}`)
  const { program, args } = await interpret(block.text, folder)
  const { stdout, stderr, code } = await printedBy(program, args, block)
  expect({ stderr, code }).toEqual({ stderr: '', code: endOf(block) === undefined ? 0 : null })
  if (block.prints?.language === 'json')
    expect(shapeOf(JSON.parse(stdout))).toEqual(shapeOf(JSON.parse(block.prints.text)))
  else if (block.prints !== undefined) expect(stdout.trim()).toBe(block.prints.text)
})

/** The programs that the administration area shows for a key, with the interpreter of each and what it prints. */
const ofArea = [
  { id: 'curl', language: 'sh', prints: /"itemName":"Fritto misto","quantitySold":2/ },
  { id: 'python', language: 'python', prints: /^Fritto misto: 2$/m },
  { id: 'node', language: 'js', prints: /^Fritto misto: 2$/m },
  { id: 'esp32', language: 'cpp', prints: /^Sold: 2$/m, until: 'Sold: 2\n' },
] as const

const snippets = (scopes: Scope[]) => {
  const { TALLY_URL: apiUrl = '', TALLY_KEY: token = '' } = env
  const events = [{ eventId: festival.eventId as EventId }]
  return snippetsOf({ apiUrl, token, key: { scopes, eventId: null }, events })
}
async function runSnippet(id: string, language: string, text: string, until?: string) {
  const interpret = interpreters[language]
  if (interpret === undefined) throw new Error(`nothing runs ${language}`)
  const { program, args } = await interpret(text, folder)
  const block = { file: id, line: 1, language, text, until, exit: 0, prints: undefined }
  return printedBy(program, args, block, { TALLY_URL: '', TALLY_KEY: '', EVENT_ID: '' })
}

test.for(ofArea)('what the area shows for a key works as it is copied ($id)', async of => {
  const text = snippets(['events:read', 'analytics:read']).find(({ id }) => id === of.id)?.text ?? ''
  const { stdout, code } = await runSnippet(of.id, of.language, text, 'until' in of ? of.until : undefined)
  expect(stdout).toMatch(of.prints)
  expect(code).toBe('until' in of ? null : 0)
})

test('the sketch of the area shows nothing of half an answer', async () => {
  const { close, TALLY_URL } = await answering(...foreign, { status: 200, body: whole(8) })
  const text = snippets(['analytics:read']).find(({ id }) => id === 'esp32')?.text ?? ''
  const fast = text.replace(env.TALLY_URL ?? '', TALLY_URL).replace('delay(10000)', 'delay(1)')
  const { stdout } = await runSnippet('esp32', 'cpp', fast, 'Sold: 8').finally(close)
  expect(stdout).toMatch(/^(No answer \(\d+\)\n){7}Sold: 8\n/)
})

test('keys without figures are shown programs that print orders, or events', async () => {
  for (const [scope, prints] of [
    ['orders:read', '2026-09-05T19:31:07Z 27.5'],
    ['events:read', `${festival.eventId} Sagra del Pesce`],
  ] as const)
    for (const [id, language] of [
      ['python', 'python'],
      ['node', 'js'],
    ] as const) {
      const shown = snippets([scope])
      expect(shown.map(({ id }) => id)).toEqual(['curl', 'python', 'node'])
      const { stdout } = await runSnippet(id, language, shown.find(one => one.id === id)?.text ?? '')
      expect([id, scope, stdout.trim()]).toEqual([id, scope, prints])
    }
})

test('what the area shows for Home Assistant has the fields of the recipe', () => {
  const recipe = parse(readFileSync(join(recipes, 'home-assistant/tally.yaml'), 'utf8'), {
    customTags: [secret],
  })
  const shown = parse(snippets(['analytics:read']).find(({ id }) => id === 'home-assistant')?.text ?? '')
  const [ofRecipe, ofArea] = [recipe.rest[0], shown.rest[0]]
  expect(ofArea.resource).toBe(`${env.TALLY_URL}/api/v1/events/${festival.eventId}/live/item-counts`)
  expect(ofArea.headers).toEqual({ 'X-Api-Key': env.TALLY_KEY })
  expect(Object.keys(ofArea)).toEqual(Object.keys(ofRecipe))
  expect(Object.keys(ofArea.sensor[0])).toEqual(Object.keys(ofRecipe.sensor[0]))
  expect(ofArea.sensor[0].availability).toBe(ofRecipe.sensor[0].availability)
})

const whole = (sold: number) => `{"data":[{"quantitySold":${sold}}],"meta":{}}`
type Foreign = { status: number; body: string; headers?: Record<string, string>; trickles?: true }
/** What is answered in place of Tally. */
const foreign: Foreign[] = [
  { status: 200, body: '<title>Sign in</title>' },
  { status: 404, body: '404 page not found' },
  { status: 403, body: '{"message":"forbidden"}' },
  { status: 302, body: '', headers: { Location: '/sign-in' } },
  { status: 200, body: '' },
  { status: 200, body: '[]' },
  { status: 200, body: '{"data":[{"quantitySold":7' },
]

test('the program in Python outlasts what proxies and portals answer', async () => {
  const block = blocks.find(({ file, language }) => file === 'guides/polling.md' && language === 'python')
  const interpret = interpreters.python
  if (block === undefined || interpret === undefined) throw new Error('polling.md has no program in Python')
  const endless: Foreign = { status: 200, body: whole(7), trickles: true }
  const { close, TALLY_URL, paths } = await answering(...foreign, endless, { status: 200, body: whole(3) })
  const text = block.text
    .replace(/time\.sleep\(.*\)/, 'time.sleep(0)')
    .replace('monotonic() + 10', 'monotonic() + 1')
  const { program, args } = await interpret(text, folder)
  // As they are copied, or read from a file.
  const copied = { TALLY_URL: `${TALLY_URL}/`, TALLY_KEY: `${env.TALLY_KEY}\n` }
  const { stdout, stderr } = await printedBy(program, args, block, copied).finally(close)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^(no answer: .*\nsold: None \(old\)\n){8}sold: 3 \(old\)/)
  expect([...paths].filter(path => !/^\/api\/.*\/live\/item-counts$/.test(path))).toEqual([])
})

test('the program in Node names the fault of the network', async () => {
  const block = blocks.find(({ file, language }) => file === 'guides/polling.md' && language === 'js')
  const { program = '', args = [] } = { ...(await interpreters.js?.(block?.text ?? '', folder)) }
  const until = { ...(block as Block), until: 'These figures are old.' }
  const { stderr } = await printedBy(program, args, until, {
    TALLY_URL: `http://127.0.0.1:${await freePort()}`,
  })
  expect(stderr).toContain('still trying: ECONNREFUSED')
})

test('the sketch shows that more came back than was sold, and nothing that is not of Tally', async () => {
  const block = blocks.find(({ language }) => language === 'cpp')
  const interpret = interpreters.cpp
  if (block === undefined || interpret === undefined) throw new Error('no guide has a sketch')
  const withoutDays = { status: 200, body: '{"data":[],"meta":{}}' }
  const all = [withoutDays, { status: 200, body: whole(-3) }, ...foreign, { status: 200, body: whole(-4) }]
  const { close, TALLY_URL } = await answering(...all)
  const { program, args } = await interpret(
    block.text.replace('delay(waitMs)', 'delay(waitMs / 1000)'),
    folder,
  )
  const shown = { ...block, until: 'Sold: -4' }
  const { stdout } = await printedBy(program, args, shown, { TALLY_URL }).finally(close)
  expect(stdout).toMatch(/^Sold: 0\nSold: -3\n(No answer \(\d+\): .*\nSold: -3\n){7}Sold: -4\n/)
})

/** A server in place of Tally: gives the answers one after the other, and then the last one again. */
async function answering(...answers: Foreign[]) {
  const paths = new Set<string>()
  const { url: TALLY_URL, close } = await serve(({ url = '' }, response) => {
    paths.add(url)
    const { status, headers, body, trickles } = (answers.length > 1 ? answers.shift() : answers[0]) as Foreign
    if (trickles) {
      response.writeHead(status)
      const trickle = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(trickle))
    } else response.writeHead(status, { 'Content-Length': body.length, ...headers }).end(body)
  })
  return { close, paths, TALLY_URL }
}

/** A sketch never ends: it is ended when it has printed what the guide says. */
const endOf = ({ until, language, prints }: Block) => until ?? (language === 'cpp' ? prints?.text : undefined)

async function printedBy(program: string, args: string[], block: Block, more: Record<string, string> = {}) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  const end = endOf(block)
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text
      if (end !== undefined && printed.stdout.includes(end)) child.kill()
    })
  const timer = setTimeout(() => child.kill('SIGKILL'), 120_000)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  if (end !== undefined) expect(printed.stdout, printed.stderr).toContain(end)
  return { ...printed, code }
}

/** The fields of an answer with the types of their values; of an array, those of its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]))
}

test('the service shows every guide, and every link in them leads to an answer', async () => {
  const toSee = ['/docs/guide', '/llms.txt']
  const seen = new Set<string>()
  for (let path = toSee.pop(); path !== undefined; path = toSee.pop()) {
    if (seen.has(path)) continue
    seen.add(path)
    const { status, headers, text } = await ask(env.TALLY_URL ?? '', path, {
      headers: { Accept: 'text/html' },
    })
    expect({ path, status }).toEqual({ path, status: 200 })
    // A page of its own, which the browser's tests see.
    if (path === '/docs/dashboard/' || (!path.startsWith('/docs') && path !== '/llms.txt')) continue
    if (String(headers['content-type']).startsWith('text/html')) {
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+';/)
      expect(text.replace('<script>', '')).not.toMatch(/<script|style="|<img/)
    }
    const links = [...text.matchAll(/href="(\/[^"#]*)|^- \[[^\]]+\]\(([^)]+)\)/gm)]
    toSee.push(...links.flatMap(([, html, markdown]) => html ?? markdown ?? []))
  }
  const pages = [...seen].filter(path => /^\/docs\/guide[\w/-]*$/.test(path))
  expect(pages.length).toBeGreaterThan(16)
  expect([...seen].filter(path => path.endsWith('.md')).length).toBe(pages.length)
  expect([...seen].filter(path => /^\/docs.*\.(yaml|json)$/.test(path)).length).toBe(3)
})
