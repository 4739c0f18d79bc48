import { expect, test } from 'vitest'
import { addresses, addressOf, lastWords } from './words.ts'

test('a line about a server names its address without user and password', () => {
  expect(addressOf('postgres://postgres:p@ss@127.0.0.1:5432/tally')).toBe('postgres://127.0.0.1:5432/tally')
  expect(addressOf('redis://:secret@127.0.0.1:6379')).toBe('redis://127.0.0.1:6379')
  expect(addressOf('127.0.0.1:9092')).toBe('127.0.0.1:9092')
})

test('the first words begin with the live page, and name the file of the settings in place of the addresses', () => {
  const env = { DATABASE_URL: 'postgres://tally:hidden@db/tally', REDIS_URL: 'redis://:hidden@cache' }
  const outcome = {
    address: 'http://127.0.0.1:8080',
    ops: 'http://127.0.0.1:9091',
    area: 'http://127.0.0.1:8081',
    envFile: '/tally/.local/env',
    feed: true,
  }
  const words = addresses({ ...outcome, ...{ env } })
  expect(words.indexOf('  open http://127.0.0.1:8081/live\n')).toBeLessThan(words.indexOf(':8080'))
  expect(words).toContain('simulated')
  expect(addresses({ ...outcome, feed: false })).not.toContain('simulated')
  expect(words).toContain(' http://127.0.0.1:9091/metrics\n')
  expect(words).toContain('  . /tally/.local/env\n')
  expect(words).not.toContain('hidden')
})

test('the last words name the file that the guides need, and end with a line that answers', () => {
  const key = { name: 'Pro Loco', token: 'tally_a' }
  const words = lastWords({ address: 'http://127.0.0.1:8080', key, path: '/x', envFile: '/tally/.local/env' })
  expect(words).toContain('\n  Try the guides: . /tally/.local/env\n')
  expect(words).toMatch(/\n {2}curl -H 'X-Api-Key: tally_a' http:\/\/127\.0\.0\.1:8080\/x\n$/)
})
