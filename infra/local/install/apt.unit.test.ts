import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { installAsRoot } from './apt.ts'

/** docs/security.md, Supply chain. An apt-get of the test's own, which writes down when it was called. */
let folder: string
let policy: string
let happened: string
const read = () => (existsSync(happened) ? readFileSync(happened, 'utf8') : '')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-apt-'))
  policy = join(folder, 'policy-rc.d')
  happened = join(folder, 'happened')
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** `then` is what apt-get does after it has written down its command, and the status of the policy for services. */
function aptGet(then: string): void {
  const script = `#!/bin/sh
for word in "$@"; do case $word in install|update) echo "$word $("${policy}"; echo $?)" >> "${happened}" ;; esac; done
${then}
`
  writeFileSync(join(folder, 'apt-get'), script, { mode: 0o755 })
}

test('a package is announced before apt-get runs, and no service may start meanwhile', async () => {
  aptGet('exit 0')
  const log = (line: string) => writeFileSync(happened, `${line}\n`, { flag: 'a' })
  expect(await installAsRoot('redis-server', { log, signal: undefined }, policy)).toBe(true)
  expect(read()).toMatch(
    /^redis-server is missing: .*as root, with apt-get install redis-server.*\ninstall 101\n$/,
  )
  expect(existsSync(policy)).toBe(false)
})

test('if apt-get fails, it says so and the policy is gone', async () => {
  aptGet('exit 100')
  const lines: string[] = []
  const setup = { log: (line: string) => lines.push(line), signal: undefined }
  expect(await installAsRoot('redis-server', setup, policy)).toBe(false)
  expect(read()).toBe('install 101\nupdate 101\n')
  expect(lines[1]).toMatch(/^the package redis-server could not be installed: /)
  expect(existsSync(policy)).toBe(false)
})

test('if apt-get is interrupted, the policy is gone, and it is not tried again', async () => {
  aptGet('exec sleep 600')
  const interruption = new AbortController()
  const setup = { log: () => {}, signal: interruption.signal }
  const installing = installAsRoot('redis-server', setup, policy)
  await vi.waitUntil(() => read() === 'install 101\n', { timeout: 60_000 })
  interruption.abort(new Error('interrupted'))
  await expect(installing).rejects.toThrow('interrupted')
  expect(existsSync(policy)).toBe(false)
  expect(read()).toBe('install 101\n')
})

test("a policy of the machine's own stays as it is", async () => {
  aptGet('exit 0')
  writeFileSync(policy, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  await installAsRoot('redis-server', { log: () => {}, signal: undefined }, policy)
  expect(readFileSync(policy, 'utf8')).toBe('#!/bin/sh\nexit 0\n')
  expect(read()).toBe('install 0\n')
})
