import { expect, test } from 'vitest'
import { openStartAgain } from './startAgain.ts'

function watch() {
  const said: string[] = []
  const gaveUp: string[] = []
  const ends = new AbortController()
  const startAgain = openStartAgain({
    log: line => void said.push(line),
    giveUp: error => void gaveUp.push(error.message),
    signal: ends.signal,
  })
  return { said, gaveUp, ends, startAgain }
}

test('a part that ended by itself is started again, and both are said', async () => {
  const { said, gaveUp, startAgain } = watch()
  await startAgain('redis ended by itself (signal SIGKILL)', async () => {})
  expect(said).toEqual([
    'redis ended by itself (signal SIGKILL)\nStarting redis again ...',
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

test('nothing is started again once all is to stop', async () => {
  const { said, gaveUp, ends, startAgain } = watch()
  ends.abort()
  await startAgain('redis ended by itself', () => Promise.reject(new Error('must not start')))
  expect({ said, gaveUp }).toEqual({ said: [], gaveUp: [] })
})
