import { expect, test } from 'vitest'
import {
  databaseAddresses,
  describeDatabase,
  isDatabaseUrl,
  sslModeWarning,
  wantsWritable,
} from './databaseUrl.ts'

const several = 'postgres://u:p,q@h1:5432,[::1]:5433,h3/db?sslmode=verify-full'

test('an address of several hosts becomes one address per host, otherwise unchanged', () => {
  expect(databaseAddresses(several)).toEqual([
    'postgres://u:p,q@h1:5432/db?sslmode=verify-full',
    'postgres://u:p,q@[::1]:5433/db?sslmode=verify-full',
    'postgres://u:p,q@h3/db?sslmode=verify-full',
  ])
  expect(databaseAddresses('postgresql://h/db')).toEqual(['postgresql://h/db'])
})

test.each([
  [several, true],
  ['postgres://u@h1,h2/db?target_session_attrs=read-write', true],
  ['postgres://u@h/db?target_session_attrs=primary', true],
  ['postgres://u@h1,h2/db?target_session_attrs=standby', false],
  ['postgres://u@h1,,h2/db', false],
  ['postgres://u@h1:x,h2/db', false],
  ['mysql://u@h1,h2/db', false],
  ['host=h1,h2 dbname=db', false],
])('%s is an address of databases: %s', (url, isGood) => {
  expect(isDatabaseUrl(url)).toBe(isGood)
})

test('a standby is skipped if there are several hosts, or if the address says so', () => {
  expect(
    [several, 'postgres://h/db?target_session_attrs=primary', 'postgres://h/db'].map(wantsWritable),
  ).toEqual([true, true, false])
})

test('its text for messages has neither user nor password', () => {
  expect(describeDatabase(several)).toBe('h1:5432,[::1]:5433,h3:5432/db')
})

test.each(['prefer', 'require', 'verify-ca', 'no-verify'])(
  'sslmode=%s is warned of, without the password',
  mode => {
    const said = sslModeWarning(`postgres://u:hidden@h/db?application_name=x&sslmode=${mode}`)
    expect(said?.found).toContain(`sslmode=${mode}, with`)
    expect(said?.mend).toBe('write sslmode=verify-full')
    expect(JSON.stringify(said)).not.toContain('hidden')
  },
)

test.each(['', '?sslmode=disable', '?sslmode=verify-full'])('nothing is said about %j', parameters => {
  expect(sslModeWarning(`postgres://u@h/db${parameters}`)).toBeUndefined()
})
