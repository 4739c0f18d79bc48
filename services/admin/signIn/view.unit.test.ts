import { expect, test } from 'vitest'
import { signInView } from './view.ts'

const viewOf = (contact: string | undefined, allowsPasswords = true) =>
  String(signInView({ next: '/' }, { oidc: undefined, allowsPasswords, contact }))
const said = (contact: string | undefined) => /Forgot your password\?.*?<\/p>/.exec(viewOf(contact))?.[0]

test('who forgot the password learns whom to ask for a link', () => {
  expect(said(undefined)).toBe('Forgot your password? Ask whoever runs Tally for a link.</p>')
  expect(said('ada@example.org')).toContain(': <a href="mailto:ada@example.org">ada@example.org</a>.')
  expect(said('https://example.org/help')).toContain(': <a href="https://example.org/help">')
})

test('without passwords there is nothing to forget', () => {
  expect(viewOf(undefined, false)).not.toContain('Forgot')
})
