import { expect, test } from 'vitest'
import { openStartAgain } from './startAgain.ts'

function watch({ waitMs = 0 } = {}) {
  const said: string[] = []
  const gaveUp: string[] = []
  const ends = new AbortController()
  const startAgain = openStartAgain({
    log: line => void said.push(line),
    giveUp: error => void gaveUp.push(error.message),
    signal: ends.signal,
    waitMs,
  })
  return { said, gaveUp, ends, startAgain }
}

test('a part that ended by itself is started again, and both are said', async () => {
  const { said, gaveUp, startAgain } = watch()
  await startAgain('redis ended by itself (signal SIGKILL)', async () => {})
  expect(said).toEqual([
    'redis ended by itself (signal SIGKILL)\nStarting redis again in 0 s ...',
    expect.stringMatching(/^redis runs again \([\d.]+ s\)$/),
  ])
  expect(gaveUp).toEqual([])
})

test('a part that ends a fourth time in a minute, or does not start, is given up; another one is not', async () => {
  const { gaveUp, startAgain } = watch()
  for (let time = 0; time < 4; time++) await startAgain('query ended by itself', async () => {})
  await startAgain('admin ended by itself', async () => {})
  await startAgain('kafka ended by itself', () => Promise.reject(new Error('no room')))
  expect(gaveUp).toEqual(['query ended by itself\nquery ends again and again', 'no room'])
})

test('nothing is started again once all is to stop, also if that is while it waits', async () => {
  const { said, gaveUp, ends, startAgain } = watch({ waitMs: 1e9 })
  const mustNotStart = () => Promise.reject(new Error('must not start'))
  const waiting = startAgain('kafka ended by itself', mustNotStart)
  ends.abort()
  await waiting
  await startAgain('redis ended by itself', mustNotStart)
  expect({ said, gaveUp }).toEqual({
    said: ['kafka ended by itself\nStarting kafka again in 1000000 s ...'],
    gaveUp: [],
  })
})
