import { expect, test } from 'vitest'
import { plainAddress } from './origin.ts'

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:7f00:1', '127.0.0.1'],
  ['0:0:0:0:0:ffff:10.0.0.9', '10.0.0.9'],
  ['10.0.0.9:51234', '10.0.0.9'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['[2001:db8::1]:443', '2001:db8::1'],
  ['[::1]', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['fe80::1%25eth0', 'fe80::1'],
  ['unknown', 'unknown'],
  ['', ''],
  ['1.2.3.4.5', '1.2.3.4.5'],
])('%j is %j', (text, plain) => {
  expect(plainAddress(text)).toBe(plain)
})

test('a text in place of an address is cut', () => {
  expect(plainAddress('x'.repeat(500))).toBe('x'.repeat(64))
})
