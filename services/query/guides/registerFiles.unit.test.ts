import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { clientFile } from './clientPackage.ts'
import { registerFiles } from './register.ts'

const app = fastify()
registerFiles(app)

test('the client is one module with all that the package exports, and imports nothing', async () => {
  const code = clientFile()
  expect(code).not.toMatch(/^import|: string/m)
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  expect(Object.keys(module)).toEqual(['TallyProblem', 'connect'])
})

test.each([
  ['/docs/client.js', 'text/javascript', 'function connect'],
  ['/docs/dashboard/client.js', 'text/javascript', 'function connect'],
  ['/docs/dashboard/dashboard.js', 'text/javascript', "from './client.js'"],
  ['/docs/dashboard/dashboard.css', 'text/css', ':root'],
  ['/docs/dashboard/', 'text/html', '<!doctype html>'],
  ['/docs/dashboard/index.html', 'text/html', '<!doctype html>'],
  ['/docs/tally.py', 'text/x-python', 'import email.utils'],
])('%s is %s, and asks this origin only', async (url, type, part) => {
  const { body, headers } = await app.inject(url)
  expect(headers['content-type']).toBe(`${type}; charset=utf-8`)
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self';")
  expect(headers['content-security-policy']).toContain("connect-src 'self';")
  expect(body).toContain(part)
  expect(body).not.toContain('```')
})

test('the dashboard without a slash leads to the one with it, as its files are next to it', async () => {
  const { statusCode, headers } = await app.inject('/docs/dashboard')
  expect([statusCode, headers.location]).toEqual([302, 'dashboard/'])
})
