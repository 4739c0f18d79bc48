import type { PeerCertificate } from 'node:tls'
import { expect, test } from 'vitest'
import { namedTls } from './client.ts'

const { checkServerIdentity } = namedTls(['config.example.org', '10.0.0.9'])
/** Whether a server that was connected to as `host` may have a certificate for these names. */
const accepts = (host: string, subjectaltname: string): boolean =>
  checkServerIdentity?.(host, { subject: {}, subjectaltname } as PeerCertificate) === undefined

test.each([
  ['a name', 'node-1.example.org', 'DNS:*.example.org', true],
  ['a name that the certificate lacks', 'node-1.example.com', 'DNS:*.example.org', false],
  ['another name than the one written', 'node-1.example.org', 'DNS:config.example.org', false],
  ['an address', '10.0.0.1', 'IP Address:10.0.0.1', true],
  ['an address, for the name written', '10.0.0.1', 'DNS:*.example.org', true],
  ['an address, for another name', '10.0.0.1', 'DNS:config.example.com', false],
  ['an address, for another address that is written', '10.0.0.1', 'IP Address:10.0.0.9', false],
])('a server is announced by %s', (_, host, names, isAccepted) => {
  expect(accepts(host, names)).toBe(isAccepted)
})
