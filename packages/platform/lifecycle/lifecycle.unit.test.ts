import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { createLifecycle } from './lifecycle.ts'

const silent = createLogger('test', 'silent')
const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  running.clear()
})

/** Runs test/service.ts as a process; `says` waits until it has written a line. */
function startService(scenario: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../test/service.ts'), scenario], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', bytes => (output += bytes))
  const exit = once(child, 'close').then(([code]) => code as number | null)
  const says = (line: string) =>
    vi.waitFor(() => expect(output).toContain(line), { timeout: 120_000, interval: 10 })
  return { child, exit, says, output: () => output }
}

test('what was opened last is closed first', async () => {
  const lifecycle = createLifecycle(silent)
  const closed: string[] = []
  for (const name of ['postgres', 'redis', 'consumer']) lifecycle.onRelease(name, () => closed.push(name))
  await lifecycle.release()
  expect(closed).toEqual(['consumer', 'redis', 'postgres'])
})

test('a resource closes only after the one opened after it', async () => {
  const lifecycle = createLifecycle(silent)
  const { promise, resolve } = Promise.withResolvers<void>()
  const closed: string[] = []
  lifecycle.onRelease('postgres', () => closed.push('postgres'))
  lifecycle.onRelease('consumer', () => promise)
  const released = lifecycle.release()
  await Promise.resolve()
  expect(closed).toEqual([])
  resolve()
  await released
  expect(closed).toEqual(['postgres'])
})

test('a resource that hangs keeps the others open only for its timeout', async () => {
  const lifecycle = createLifecycle(silent)
  const closed: string[] = []
  lifecycle.onRelease('consumer', () => closed.push('consumer'))
  lifecycle.onRelease('logs', () => new Promise(() => {}), 10)
  await lifecycle.release()
  expect(closed).toEqual(['consumer'])
})

test('a resource that fails to close does not keep the others open', async () => {
  const lifecycle = createLifecycle(silent)
  const closed: string[] = []
  lifecycle.onRelease('postgres', () => closed.push('postgres'))
  lifecycle.onRelease('redis', () => Promise.reject(new Error('gone')))
  lifecycle.onRelease('consumer', () => {
    throw new Error('gone')
  })
  await lifecycle.release()
  expect(closed).toEqual(['postgres'])
})

test('nothing is closed twice', async () => {
  const lifecycle = createLifecycle(silent)
  let closed = 0
  lifecycle.onRelease('postgres', () => (closed += 1))
  await Promise.all([lifecycle.release(), lifecycle.release()])
  expect(closed).toBe(1)
})

test('the first signal closes everything: SIGTERM drains before it; SIGINT, from a person who waits, does not', async () => {
  for (const [signal, output] of [
    ['SIGTERM', /drained[\s\S]*closed second[\s\S]*closed first/],
    ['SIGINT', /^(?![\s\S]*drained)[\s\S]*closed second[\s\S]*closed first/],
  ] as const) {
    const service = startService('quick')
    await service.says('started')
    service.child.kill(signal)
    expect(await service.exit).toBe(0)
    expect(service.output()).toMatch(output)
  }
})

test('the second signal exits at once, even if a release hangs', async () => {
  const service = startService('hanging')
  await service.says('started')
  service.child.kill('SIGTERM')
  await service.says('closing')
  const began = performance.now()
  service.child.kill('SIGTERM')
  expect(await service.exit).toBe(1)
  expect(performance.now() - began, 'well before the deadline of the first').toBeLessThan(7_000)
  expect(service.output()).not.toContain('closed first')
})

test.each(['crash', 'throw', 'reject'])(
  '%s: the error is logged, everything closes, and the process exits with 1',
  async how => {
    const service = startService(how)
    expect(await service.exit).toBe(1)
    expect(service.output()).toContain('stopping after an error that cannot be passed over')
    expect(service.output()).toContain('closed first')
    expect(service.output()).not.toContain('drained')
  },
)

test('a start that fails closes what it had opened and rethrows the error', async () => {
  const service = startService('failing-start')
  expect(await service.exit).toBe(1)
  expect(service.output()).toMatch(/closed first[\s\S]*start failed: no schema/)
})
