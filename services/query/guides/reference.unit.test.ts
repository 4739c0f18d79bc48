import { type EndpointName, endpoints, problemTypes } from '@tally/contract'
import { fastify } from 'fastify'
import { expect, test, vi } from 'vitest'
import { referenceBody } from './referenceBody.ts'
import { registerReference } from './register.ts'

vi.mock('./referenceBody.ts', async original => {
  const { referenceBody } = await original<typeof import('./referenceBody.ts')>()
  return { referenceBody: vi.fn(referenceBody) }
})

const app = fastify()
registerReference(app, 'https://example.org/?a=1&b="2"')
const page = async () => (await app.inject('/docs')).body

test('the reference is made when it is first asked for, and once; with a slash it is the same', async () => {
  expect((await app.inject('/api/v1/openapi.json')).json().openapi).toBe('3.1.1')
  expect(referenceBody).not.toHaveBeenCalled()
  const [plain, slash] = await Promise.all(['/docs', '/docs/'].map(url => app.inject(url)))
  expect(plain?.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(plain?.headers['content-security-policy']).toMatch(/^default-src 'none';/)
  expect(slash?.body).toBe(plain?.body)
  expect(referenceBody).toHaveBeenCalledTimes(1)
})

const names = Object.keys(endpoints) as EndpointName[]

test.each(names)('%s has its parameters, fields, command and example', async name => {
  const { url, scope, params, query } = endpoints[name]
  const path = url.replaceAll(/:(\w+)/g, '{$1}')
  const section =
    (await page()).split('<section ').find(part => part.includes(`<b>GET</b> <code>${path}</code>`)) ?? ''
  expect(section).toContain(`<code>${scope}</code>`)
  const [taken = '', answered = ''] = section.split(/<h4>Fields|<\/section>/)
  const namesIn = (part: string) => [...part.matchAll(/<td><code>([^<]+)<\/code>/g)].map(([, name]) => name)
  expect(namesIn(taken)).toEqual([...Object.keys(params.shape), ...Object.keys(query.shape)])
  const { paths } = (await app.inject('/api/v1/openapi.json')).json()
  const { data } = paths[path].get.responses[200].content['application/json'].example
  expect(namesIn(answered).filter(name => !/\W/.test(name ?? ''))).toEqual(Object.keys([data].flat()[0]))
  expect(section).toContain(`"https://tally.example.org${path.split('{')[0]}`)
  expect(section).toContain('"generatedAt": ')
})

test('fields of fields have the names of both, and types are words', async () => {
  const text = await page()
  for (const row of [
    '<td><code>currentDay.openedAt</code></td><td><small>timestamp</small> </td>',
    '<td><code>items[].unitPrice</code></td><td><small>number</small> EUR; below zero: given back</td>',
    '<td><code>days</code></td><td><small>integer from 1 to 365</small> Default: 7</td>',
    '<td><code>eventId</code></td><td><small>UUID, required</small> Id of the event, in either case</td>',
    '<td><code>currency</code></td><td><small>always EUR</small> </td>',
    '<td><code>currentDay</code></td><td><small>object or null</small> ',
    '<td><code>items</code></td><td><small>list of objects</small> ',
    '<td><code>status</code></td><td><small>PreOrder, Pending, Paid, ',
    '<td><code>tableNumber</code></td><td><small>string or null</small> </td>',
    '<td><code>pagination.totalCount</code></td><td><small>integer</small> </td>',
  ])
    expect(text).toContain(row)
  expect(text).not.toMatch(/undefined|\[object/)
})

test('each problem is named once, with a link to its page, and headers are said once', async () => {
  const text = await page()
  for (const [type, { status, title }] of Object.entries(problemTypes))
    expect(text.split(`${status} <a href="/problems/${type}">${title}</a>`)).toHaveLength(2)
  for (const header of ['ETag', 'Tally-Ignored', 'Retry-After', 'If-None-Match'])
    expect(text.split(`<td><code>${header}</code></td>`)).toHaveLength(2)
})

test('every link within the page leads to a part of it, and the contact is text', async () => {
  const text = await page()
  const targets = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  expect(targets.length).toBeGreaterThan(11)
  for (const id of targets) expect(text.split(` id="${id}"`)).toHaveLength(2)
  expect(text).toContain('<a href="https://example.org/?a=1&amp;b=%222%22">')
})
