import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatToken, hashSecret, makeToken, parseToken } from './apiKey.ts'

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const digit = fc.constantFrom(...digits)
const text = (length: number) => fc.string({ unit: digit, minLength: length, maxLength: length })

/** The checksums of these were computed by Python's binascii.crc32. */
const vectors = [
  [
    '000000000000',
    '0000000000000000000000000000000000000000000',
    'tally_000000000000_00000000000000000000000000000000000000000000U1eIT',
  ],
  [
    'AbCdEf012345',
    'Kbrf9zVJ1j6siQwg04YM0spJGPkn3vcbtmlFTN3tGoX',
    'tally_AbCdEf012345_Kbrf9zVJ1j6siQwg04YM0spJGPkn3vcbtmlFTN3tGoX00m9im',
  ],
] as const

test.each(vectors)('the token of key %s and secret %s is %s', (keyId, secret, token) => {
  expect(formatToken({ keyId, secret })).toBe(token)
  expect(parseToken(token)).toEqual({ keyId, secret })
})

test('every digit is equally likely in every place of a secret', () => {
  const counts = new Map<string, number>()
  const rounds = 2_000
  for (let round = 0; round < rounds; round++) {
    for (const one of makeToken().secret) counts.set(one, (counts.get(one) ?? 0) + 1)
  }
  const expected = (rounds * 43) / 62
  // Chi-squared with 61 degrees of freedom is beyond 130 once in a million runs.
  const chiSquared = [...digits].reduce(
    (sum, one) => sum + ((counts.get(one) ?? 0) - expected) ** 2 / expected,
    0,
  )
  expect(chiSquared).toBeLessThan(130)
})

test('every key id and secret can be parsed from their token', () => {
  fc.assert(
    fc.property(text(12), text(43), (keyId, secret) => {
      expect(parseToken(formatToken({ keyId, secret }))).toEqual({ keyId, secret })
    }),
  )
})

test('a token with one wrong character is refused, whichever it is', () => {
  const { token } = makeToken()
  for (const [index, right] of [...token].entries()) {
    for (const wrong of `${digits}_- é`) {
      if (wrong === right) continue
      expect(parseToken(token.slice(0, index) + wrong + token.slice(index + 1))).toBeUndefined()
    }
  }
})

test('two swapped characters are refused', () => {
  fc.assert(
    fc.property(text(12), text(43), fc.nat(66), (keyId, secret, index) => {
      const token = formatToken({ keyId, secret })
      const [one, two] = [token.charAt(index), token.charAt(index + 1)]
      fc.pre(one !== two)
      expect(parseToken(token.slice(0, index) + two + one + token.slice(index + 2))).toBeUndefined()
    }),
  )
})

test('a text that is not a token is refused', () => {
  const { token } = makeToken()
  for (const wrong of [
    '',
    'tally_',
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
  ])
    expect(parseToken(wrong)).toBeUndefined()
})

test('a secret is stored as its SHA-256', () => {
  expect(hashSecret('abc').toString('hex')).toBe(createHash('sha256').update('abc').digest('hex'))
})
