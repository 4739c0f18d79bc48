import { expect, test } from 'vitest'
import { madeView } from './linkPages.ts'

test.each([
  ['http://127.0.0.1:8081/screen/abc', true],
  ['http://localhost', true],
  ['http://192.168.1.20:8081/screen/abc', false],
  ['https://localhost.example.org/screen/abc', false],
])('a link that each device would open on itself is said to: %s, %s', (link, isOwn) => {
  const page = String(madeView({ name: 'Hall', event: 'Sagra', shown: 'Portions', endsAt: 0, link }))
  expect(page.includes('The address works on this computer only.')).toBe(isOwn)
})
