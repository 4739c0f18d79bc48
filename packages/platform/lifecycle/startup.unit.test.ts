import { expect, test, vi } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { FatalError } from './errors.ts'
import { createLifecycle, createStartup } from './lifecycle.ts'
import { createOutages } from './outages.ts'

const logger = createLogger('test', 'silent')
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

function open() {
  const lifecycle = createLifecycle(logger)
  const warn = vi.spyOn(logger, 'warn').mockReset()
  const outages = createOutages(logger, {})
  return { lifecycle, outages, startup: createStartup(lifecycle, outages), warn }
}

test('a part that answers at once causes no wait', async () => {
  const { startup, outages, warn } = open()
  expect(await startup.until('Postgres', async () => 7)).toBe(7)
  expect([outages.missing(), warn.mock.calls]).toEqual([undefined, []])
})

test('a process waits for a part that is down; the log says so once, /readyz while it waits', async () => {
  const { startup, outages, warn } = open()
  let tries = 0
  const done = startup.until('Postgres', async () => {
    if (++tries < 4) throw refused()
  })
  await startup.waits
  expect(outages.missing()).toBe('waiting for Postgres (connect ECONNREFUSED)')
  await done
  expect([outages.missing(), warn.mock.calls.length]).toEqual([undefined, 1])
})

test('the log gives each reason to wait once', async () => {
  const { startup, warn } = open()
  const password = () => Object.assign(new Error('password authentication failed'), { code: '28P01' })
  const answers = [refused(), password(), refused(), password()]
  await startup.until('Postgres', async () => {
    const error = answers.shift()
    if (error !== undefined) throw error
  })
  expect(warn.mock.calls).toMatchObject([
    [{ part: 'Postgres', reason: 'connect ECONNREFUSED' }, expect.any(String)],
    [{ part: 'Postgres', reason: 'password authentication failed' }, expect.any(String)],
  ])
})

test('an error that waiting does not resolve, and an unexpected one, end the wait at once', async () => {
  for (const error of [new FatalError('run `tally migrate`'), new TypeError('a bug')]) {
    const { startup } = open()
    await expect(startup.until('Postgres', () => Promise.reject(error))).rejects.toBe(error)
  }
})

test('errors of a part that has just started are repeated at first', async () => {
  const { startup } = open()
  const answers = [refused(), new FatalError('no such topic'), new FatalError('no such topic')]
  const count = await startup.until('Kafka', async () => {
    const error = answers.shift()
    if (error !== undefined) throw error
    return 5
  })
  expect(count).toBe(5)
})

test('a process waits for two parts at the same time and names both', async () => {
  const { startup, outages, lifecycle } = open()
  const down = () => Promise.reject(refused())
  void startup.until('Postgres', down)
  void startup.until('Kafka', down)
  await vi.waitFor(() =>
    expect(outages.missing()).toBe(
      'waiting for Postgres (connect ECONNREFUSED) and Kafka (connect ECONNREFUSED)',
    ),
  )
  await lifecycle.release()
})

test('a process that stops ends its wait without an error', async () => {
  const { startup, lifecycle } = open()
  let tries = 0
  const settled = vi.fn()
  startup
    .until('Postgres', async () => {
      tries += 1
      throw tries === 1 ? refused() : new Error('the pool is closed')
    })
    .then(settled, settled)
  await startup.waits
  await lifecycle.release()
  await vi.waitFor(() => expect(tries).toBe(2))
  expect(settled).not.toHaveBeenCalled()
})
