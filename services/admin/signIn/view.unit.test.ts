import { expect, test } from 'vitest'
import { signInView } from './view.ts'

const said = (contact: string | undefined) =>
  /Forgot your password\?.*?<\/p>/.exec(signInView({ next: '/', contact }).toString())?.[0]

test('who forgot the password learns whom to ask for a link', () => {
  expect(said(undefined)).toBe('Forgot your password? Ask whoever runs Tally for a link.</p>')
  expect(said('ada@example.org')).toContain(': <a href="mailto:ada@example.org">ada@example.org</a>.')
  expect(said('https://example.org/help')).toContain(': <a href="https://example.org/help">')
})

test('without passwords there is nothing to forget', () => {
  expect(signInView({ next: '/', hasPasswords: false, hasOidc: true }).toString()).not.toContain('Forgot')
})
