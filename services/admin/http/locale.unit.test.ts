import { expect, test } from 'vitest'
import { localeOf } from './locale.ts'

const of = (language: string | undefined) =>
  localeOf({ headers: language === undefined ? {} : { 'accept-language': language } })

test.each([
  ['it-IT,it;q=0.9,en;q=0.5', 'it-IT'],
  ['en;q=0.4, de-CH ;q=0.9', 'de-CH'],
  ['xx-nonsense, fr', 'fr'],
  ['de;q=0, es', 'es'],
])('the locale of %s is %s', (language, locale) => {
  expect(of(language)).toBe(locale)
})

test('extensions are left out: a viewer cannot ask for other digits or calendars', () => {
  expect(of('ar-EG-u-nu-thai-ca-buddhist')).toBe('ar-EG')
})

test.each([undefined, '', '*', ';;q=x,,', '\u0000', `${'x'.repeat(5_000)}`])(
  'nothing that Intl knows is English: %j',
  language => {
    expect(of(language)).toBe('en')
  },
)
