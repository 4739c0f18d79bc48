import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate that signs itself, by default for 127.0.0.1 alone and two days; returns its files. */
export function makeCertificate(
  folder: string,
  { subjectAltName = 'IP:127.0.0.1', days = 2 } = {},
): { certificate: string; key: string } {
  const [certificate, key] = [join(folder, 'redis.crt'), join(folder, 'redis.key')]
  const subject = ['-subj', '/CN=tally', '-addext', `subjectAltName=${subjectAltName}`]
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', String(days), ...subject]
  execFileSync('openssl', [...request, '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  chmodSync(key, 0o644)
  return { certificate, key }
}
