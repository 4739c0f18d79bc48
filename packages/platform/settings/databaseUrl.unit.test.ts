import { expect, test } from 'vitest'
import {
  databaseAddresses,
  describeDatabase,
  forPg,
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

test.each([
  ['sslmode=no-verify', 'sslmode=no-verify, so the certificate'],
  ['ssl=no-verify', 'ssl=no-verify, so the certificate'],
  ['uselibpqcompat=true&sslmode=require', 'sslmode=require and uselibpqcompat, so the certificate'],
  ['sslmode=prefer&uselibpqcompat=true', 'sslmode=prefer and uselibpqcompat, so the certificate'],
  [
    'uselibpqcompat=true&sslmode=verify-ca&sslrootcert=f',
    'sslmode=verify-ca and uselibpqcompat, so the name',
  ],
  ['uselibpqcompat=true&sslmode=require&sslrootcert=f', 'sslmode=require and uselibpqcompat, so the name'],
])('%s is warned of, without the password', (parameters, found) => {
  const said = sslModeWarning(`postgres://u:hidden@h/db?application_name=x&${parameters}`)
  expect(said?.found).toContain(found)
  expect(said?.mend).toBe('write sslmode=verify-full alone')
  expect(JSON.stringify(said)).not.toContain('hidden')
})

const checked = ['sslmode=verify-full', 'sslmode=require', 'sslmode=verify-ca&sslrootcert=f', 'ssl=true']

test.each(['', '?sslmode=disable', ...checked.map(parameters => `?${parameters}`)])(
  'nothing is said about %j',
  parameters => {
    expect(sslModeWarning(`postgres://u@h/db${parameters}`)).toBeUndefined()
  },
)

test.each([
  ['sslmode=require', '?sslmode=verify-full'],
  ['a=b&sslmode=prefer&c=d', '?a=b&sslmode=verify-full&c=d'],
  ['sslmode=verify-ca&sslrootcert=f', '?sslmode=verify-full&sslrootcert=f'],
  ['sslmode=require&uselibpqcompat=true', '?sslmode=require&uselibpqcompat=true'],
  ['sslmode=no-verify', '?sslmode=no-verify'],
  ['sslmode=verify-full&sslrootcert=system', '?sslmode=verify-full&ssl=true'],
  ['sslrootcert=system&sslmode=require&a=b', '?ssl=true&sslmode=verify-full&a=b'],
  ['sslrootcert=system', '?sslmode=verify-full'],
])('pg gets %s as %s', (given, got) => {
  expect(forPg(`postgres://u:p%40@h/db?${given}`)).toBe(`postgres://u:p%40@h/db${got}`)
})
