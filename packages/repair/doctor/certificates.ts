import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { type Part, reasonOf, type Settings, timeout } from '@tally/platform'
import { type Checks, type DoctorFinding, fail, ok, skip, warn } from './check.ts'
import type { WrongParts } from './settings.ts'
import { type Address, endpointsOf, openPostgresTls, openTls } from './tls.ts'

const connectTimeoutMs = 3_000
const dayMs = 24 * 60 * 60_000
/** Certificates of ACME are renewed 30 days before they expire. */
const soonDays = 21
const lateDays = 7

/** When the certificates of the servers expire, for the parts that are connected to over TLS. */
export const certificateChecks: Checks<{ settings: Settings; wrong: WrongParts }> = {
  'kafka certificate': of => judgePart('kafka', of),
  'postgres certificate': of => judgePart('postgres', of),
  'redis certificate': of => judgePart('redis', of),
}

function judgePart(
  part: Part,
  { settings, wrong }: { settings: Settings; wrong: WrongParts },
): DoctorFinding | Promise<DoctorFinding> {
  if (wrong[part]) return skip('not checked: see settings')
  const { endpoints, isTls } = endpointsOf(part, settings)
  if (!isTls) return ok('no TLS')
  return judgeAll(endpoints, of => (part === 'postgres' ? openPostgresTls(of) : openTls(of)))
}

/** The finding about the certificate that expires first. */
async function judgeAll(
  endpoints: Address[],
  open: (of: Address) => Promise<TLSSocket>,
): Promise<DoctorFinding> {
  const asked = await Promise.allSettled(
    endpoints.map(async of => ({ of, expiresMs: await timeout(connectTimeoutMs, expiry(of, open)) })),
  )
  const known = asked.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const first = known.toSorted((one, other) => one.expiresMs - other.expiresMs)[0]
  if (first !== undefined) return judge(first.of, first.expiresMs)
  const reasons = asked.flatMap(one => (one.status === 'rejected' ? [reasonOf(one.reason)] : []))
  return skip(`not checked: ${reasons[0]}`)
}

function judge({ host, port }: Address, expiresMs: number): DoctorFinding {
  const days = Math.floor((expiresMs - Date.now()) / dayMs)
  const found = `${host}:${port}: ${days < 0 ? 'expired' : 'expires'} ${new Date(expiresMs).toISOString().slice(0, 10)}`
  if (days >= soonDays) return ok(found)
  const mend = 'renew it, and see why this did not happen by itself'
  return days < lateDays ? fail(found, mend) : warn(found, mend)
}

/** When the first certificate of the server's chain expires (epoch milliseconds). */
async function expiry(of: Address, open: (of: Address) => Promise<TLSSocket>): Promise<number> {
  const socket = await open(of)
  try {
    const ends: number[] = []
    const seen = new Set<string>()
    let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
    while (certificate?.valid_to !== undefined && !seen.has(certificate.fingerprint256)) {
      seen.add(certificate.fingerprint256)
      ends.push(Date.parse(certificate.valid_to))
      certificate = certificate.issuerCertificate
    }
    return Math.min(...ends)
  } finally {
    socket.destroy()
  }
}
