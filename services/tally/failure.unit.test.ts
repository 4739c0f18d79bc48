import { expect, test } from 'vitest'
import { sentenceOf } from './failure.ts'

const environment = { DATABASE_URL: 'postgres://app:hidden@db:5432/tally' }

test.each([
  ['28P01', 'password authentication failed for user "app"', 'see DATABASE_URL'],
  ['3D000', 'database "tally" does not exist', 'create it (`createdb`), or see DATABASE_URL'],
  [
    '42501',
    'permission denied for table orders',
    'connect as the role for it, with the rights that `tally migrate` grants (docs/install.md, Database roles)',
  ],
])('the sentence about Postgres’s code %s says what to do', (code, message, mend) => {
  const error = Object.assign(new Error(message), { code })
  expect(sentenceOf(error, environment)).toBe(`Postgres at db:5432/tally refuses: ${message}; ${mend}`)
})
