import { hashPassword, isPassword } from '@tally/access'
import { expect, test } from 'vitest'

/** Of tests that do not judge what a hash costs. */
const cheap = { ln: 4, r: 8, p: 1 }

test('a hash matches its password and no other', async () => {
  const hashed = await hashPassword('correct horse battery', cheap)
  expect(await isPassword('correct horse battery', hashed)).toBe(true)
  expect(await isPassword('correct horse batterz', hashed)).toBe(false)
  expect(await isPassword('', hashed)).toBe(false)
})

test('two hashes of one password differ, and neither contains it', async () => {
  const [one, other] = [
    await hashPassword('correct horse battery'),
    await hashPassword('correct horse battery'),
  ]
  expect(one).not.toBe(other)
  expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/=]{24}\$[\w+/=]{44}$/)
  expect(one).not.toContain('horse')
})

test('the same password in another Unicode form is the same', async () => {
  const hashed = await hashPassword('caff\u00e8 e cornetto', cheap)
  expect(await isPassword('caffe\u0300 e cornetto', hashed)).toBe(true)
})

test('a text that is not a hash matches no password', async () => {
  for (const text of ['', 'x', '$scrypt$', '$argon2id$v=19$m=1,t=1,p=1$a$b'])
    expect(await isPassword('x', text)).toBe(false)
})
