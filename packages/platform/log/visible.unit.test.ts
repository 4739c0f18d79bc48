import { expect, test } from 'vitest'
import { visible } from './visible.ts'

test.each([
  ['\x1b[2J', '\\u001b[2J'],
  ['a\nb\r\tc\x7f', 'a\\u000ab\\u000d\\u0009c\\u007f'],
  ['\x9b31m', '\\u009b31m'],
  ['\u202egnp.exe\u2066\u200f', '\\u202egnp.exe\\u2066\\u200f'],
  ['\u2028', '\\u2028'],
  ['\u{e0041}', '\\udb40\\udc41'],
  ['Frittura “è” 🍕 日本', 'Frittura “è” 🍕 日本'],
])('%j is shown as %j', (text, shown) => {
  expect(visible(text)).toBe(shown)
})

test('JSON keeps its value', () => {
  const value = { name: '\x1b\x9b\u202e\u{e0041}"\\\n' }
  expect(JSON.parse(visible(JSON.stringify(value)))).toEqual(value)
})
