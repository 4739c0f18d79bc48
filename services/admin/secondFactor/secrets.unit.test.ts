import { expect, test } from 'vitest'
import { createSealer, type Sealer } from './codes.ts'

const [one, two] = ['1'.repeat(64), '2'.repeat(64)]
const sealerOf = (...keys: string[]) => createSealer(keys) as Sealer
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('a sealed secret is opened for its owner only, and never looks the same twice', () => {
  const sealer = sealerOf(one)
  const sealed = sealer.seal(secret, 'anna')
  expect(sealed).not.toContain(secret)
  expect(sealer.open(sealed, 'anna')).toBe(secret)
  expect(sealer.open(sealed, 'berta')).toBeUndefined()
  expect(sealer.seal(secret, 'anna')).not.toBe(sealed)
})

test('a changed text, a plain secret and another key open nothing', () => {
  const sealed = sealerOf(one).seal(secret, 'anna')
  for (let index = 2; index < sealed.length - 1; index += 7) {
    const other = sealed[index] === 'A' ? 'B' : 'A'
    const changed = sealed.slice(0, index) + other + sealed.slice(index + 1)
    expect([index, sealerOf(one).open(changed, 'anna')]).toEqual([index, undefined])
  }
  for (const wrong of ['', '1.', secret, sealed.slice(2), sealed.slice(0, -4)])
    expect(sealerOf(one).open(wrong, 'anna')).toBeUndefined()
  expect(sealerOf(two).open(sealed, 'anna')).toBeUndefined()
})

test('an earlier key still opens what it sealed, and the first one seals', () => {
  const sealed = sealerOf(one).seal(secret, 'anna')
  const both = sealerOf(two, one)
  expect([both.open(sealed, 'anna'), both.isCurrent(sealed, 'anna')]).toEqual([secret, false])
  const again = both.seal(secret, 'anna')
  expect([sealerOf(two).open(again, 'anna'), both.isCurrent(again, 'anna')]).toEqual([secret, true])
})

test('without a key there is no sealer', () => {
  expect(createSealer([])).toBeUndefined()
})
