import { expect, test } from 'vitest'
import { newRecoveryCodes, newSecret, recoveryCodeOf, stepOf } from './codes.ts'

/** The ASCII secret `12345678901234567890` of RFC 6238, appendix B. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.for([
  { seconds: 59, code: '287082' },
  { seconds: 1_111_111_109, code: '081804' },
  { seconds: 1_234_567_890, code: '005924' },
  { seconds: 20_000_000_000, code: '353130' },
])('the code of RFC 6238 at $seconds s is accepted, and one step before and after', ({ seconds, code }) => {
  const step = Math.floor(seconds / 30)
  for (const drift of [-30, 0, 30]) expect(stepOf(secret, code, (seconds + drift) * 1000)).toBe(step)
  for (const drift of [-90, 90]) expect(stepOf(secret, code, (seconds + drift) * 1000)).toBeUndefined()
})

test.for(['', '28708', '2870820', '287o82', ' 287082', '287081'])('%j is not a code', code => {
  expect(stepOf(secret, code, 59_000)).toBeUndefined()
})

test('a secret has 160 bits, and no two are the same', () => {
  const secrets = new Set(Array.from({ length: 50 }, newSecret))
  expect(secrets.size).toBe(50)
  for (const one of secrets) expect(one).toMatch(/^[A-Z2-7]{32}$/)
})

test('recovery codes differ, and may be typed without dashes and in lower case', () => {
  const codes = newRecoveryCodes()
  expect(new Set(codes).size).toBe(10)
  for (const code of codes) {
    expect(code).toMatch(/^([A-HJ-NP-Z2-9]{6}-){3}[A-HJ-NP-Z2-9]{6}$/)
    expect(recoveryCodeOf(code.toLowerCase().replaceAll('-', ' '))).toBe(code.replaceAll('-', ''))
  }
  expect(recoveryCodeOf('123456')).toBeUndefined()
})
