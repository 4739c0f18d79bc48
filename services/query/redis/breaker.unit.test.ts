import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBreaker, timeoutMs } from './breaker.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function open(ping = async () => 'PONG' as const) {
  const failures: unknown[] = []
  const writable: boolean[] = []
  const breaker = createBreaker({
    redis: { ping } as never,
    onFailure: error => failures.push(error),
    onWritable: is => writable.push(is),
  })
  return { breaker, failures, writable }
}
const never = () => new Promise<never>(() => {})

test('a call that is too slow returns undefined after 80 ms, one that fails at once', async () => {
  const { breaker, failures } = open()
  const slow = breaker.attempt(never)
  expect(await breaker.attempt(() => Promise.reject(new Error('refused')))).toBeUndefined()
  expect(
    await breaker.attempt(() => {
      throw new Error('closed')
    }),
  ).toBeUndefined()
  await vi.advanceTimersByTimeAsync(timeoutMs + 1)
  expect(await slow).toBeUndefined()
  expect(failures).toHaveLength(3)
})

test('the time of a call counts from when it was requested', async () => {
  const { breaker } = open()
  const ended = vi.fn()
  void breaker.attempt(never, performance.now() - timeoutMs + 10).then(ended)
  await vi.advanceTimersByTimeAsync(9)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(2)
  expect(ended).toHaveBeenCalled()
})

test('an open breaker calls nothing until a ping is answered in time', async () => {
  let answer = never as () => Promise<'PONG'>
  const { breaker } = open(() => answer())
  const call = vi.fn(async () => 1)
  breaker.trip()
  expect(await breaker.attempt(call)).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(breaker.isOpen).toBe(true)
  answer = async () => 'PONG'
  await vi.advanceTimersByTimeAsync(1_100)
  expect(await breaker.attempt(call)).toBe(1)
  expect(call).toHaveBeenCalledTimes(1)
})

test('a ping that throws at once closes the breaker too: without a node, every command fails at once', async () => {
  const { breaker } = open(() => {
    throw new Error('no node has the slot')
  })
  breaker.trip()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(breaker.isOpen).toBe(false)
})

test('a process that was busy reads its sockets before it considers Redis slow', async () => {
  vi.useRealTimers()
  const { breaker, failures } = open()
  const { promise, resolve } = Promise.withResolvers<number>()
  const attempted = breaker.attempt(() => promise)
  const busyUntil = performance.now() + timeoutMs + 50
  while (performance.now() < busyUntil);
  setTimeout(() => resolve(1))
  expect(await attempted).toBe(1)
  expect(failures).toEqual([])
})

test('refused writes are reported once, known for 30 s, and so is the first accepted one; other errors change nothing', async () => {
  const { breaker, writable } = open()
  const oom = new Error(
    "OOM command not allowed when used memory > 'maxmemory'. script: 1f, on @user_script:30.",
  )
  breaker.noteWrite(new Error('Connection is closed.'))
  expect(breaker.refusesWrites).toBe(false)
  breaker.noteWrite(oom)
  breaker.noteWrite(oom)
  breaker.noteWrite(new Error('Command timed out'))
  await vi.advanceTimersByTimeAsync(29_000)
  expect(breaker.refusedLately()).toBe(true)
  await vi.advanceTimersByTimeAsync(1_000)
  expect([breaker.refusedLately(), breaker.refusesWrites]).toEqual([false, true])
  breaker.noteWrite()
  breaker.noteWrite()
  expect(writable).toEqual([false, true])
})

test('while Postgres cannot answer, an open breaker is closed and Redis has 1.5 s', async () => {
  const { breaker } = open()
  await vi.advanceTimersByTimeAsync(1_000)
  breaker.trip()
  expect(breaker.isOpen).toBe(true)
  breaker.forceClosed()
  expect(breaker.isOpen).toBe(false)
  const slow = breaker.attempt(() => new Promise(resolve => setTimeout(() => resolve('late'), 1_400)))
  await vi.advanceTimersByTimeAsync(1_400)
  expect(await slow).toBe('late')
  breaker.trip()
  expect(breaker.isOpen).toBe(false)
  await vi.advanceTimersByTimeAsync(2_000)
  breaker.trip()
  expect(breaker.isOpen).toBe(true)
})
