import { expect, test } from 'vitest'
import { addresses, addressOf, lastWords } from './words.ts'

test('a line about a server names its address without user and password', () => {
  expect(addressOf('postgres://postgres:p@ss@127.0.0.1:5432/tally')).toBe('postgres://127.0.0.1:5432/tally')
  expect(addressOf('redis://:secret@127.0.0.1:6379')).toBe('redis://127.0.0.1:6379')
})

test('the first words begin with the live page, and say of a feed that it is simulated', () => {
  const of = { address: 'http://127.0.0.1:8080', ops: '', area: 'http://127.0.0.1:8081', envFile: '' }
  const words = addresses({ ...of, feed: true })
  expect(words.indexOf('  open http://127.0.0.1:8081/live\n')).toBeLessThan(words.indexOf(':8080'))
  expect([words, addresses({ ...of, feed: false })].map(text => /simulated/.test(text))).toEqual([
    true,
    false,
  ])
})

test('the last words name the file that the guides need, and end with a line that answers', () => {
  const key = { name: 'Pro Loco', token: 'tally_a' }
  const words = lastWords({ address: 'http://a.test', key, path: '/x', envFile: '/env' })
  expect(words).toMatch(
    /\n {2}Try the guides: \. \/env\n\n {2}curl -H 'X-Api-Key: tally_a' http:\/\/a.test\/x\n$/,
  )
})
