import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { databaseAddresses, parseSentinels, reasonOf, type Settings, timeout } from '@tally/runtime'
import { type Checks, type Finding, fail, ok, skip, warn } from './check.ts'
import type { WrongParts } from './settings.ts'

type Endpoint = { host: string; port: number }

const connectTimeoutMs = 3_000
const dayMs = 24 * 60 * 60_000
/** Certificates of ACME are renewed 30 days before they expire. */
const soonDays = 21
const lateDays = 7

/** When the certificates of the servers expire, for the parts that are connected to over TLS. */
export const certificateChecks: Checks<{ settings: Settings; wrong: WrongParts }> = {
  'kafka certificate': ({ settings, wrong }) =>
    wrong.kafka ? unknown : judgeAll(kafkaEndpoints(settings), openTls),
  'postgres certificate': ({ settings, wrong }) =>
    wrong.postgres ? unknown : judgeAll(postgresEndpoints(settings), openPostgresTls),
  'redis certificate': ({ settings, wrong }) =>
    wrong.redis ? unknown : judgeAll(redisEndpoints(settings), openTls),
}

const unknown = skip('not checked: see settings')

function kafkaEndpoints({ kafka }: Settings): Endpoint[] {
  return kafka.ssl ? kafka.brokers.map(broker => endpointOf(`kafka://${broker}`, 9092)) : []
}

/** TLS as pg reads it from the address. */
function postgresEndpoints({ databaseUrl }: Settings): Endpoint[] {
  return databaseAddresses(databaseUrl)
    .filter(address => {
      const { searchParams } = new URL(address)
      const mode = searchParams.get('sslmode')
      return mode === null ? /^(true|1)$/.test(searchParams.get('ssl') ?? '') : mode !== 'disable'
    })
    .map(address => endpointOf(address, 5432))
}

function redisEndpoints({ redisNodes }: Settings): Endpoint[] {
  return redisNodes.flatMap(node => {
    const sentinels = parseSentinels(node)
    if (sentinels !== undefined) return sentinels.isTls ? sentinels.sentinels : []
    return node.startsWith('rediss:') ? [endpointOf(node, 6379)] : []
  })
}

function endpointOf(address: string, usualPort: number): Endpoint {
  const { hostname, port } = new URL(address)
  return { host: hostname.replace(/^\[(.+)\]$/, '$1') || 'localhost', port: Number(port || usualPort) }
}

/** The finding about the certificate that expires first. */
async function judgeAll(endpoints: Endpoint[], open: (of: Endpoint) => Promise<TLSSocket>): Promise<Finding> {
  if (endpoints.length === 0) return ok('no TLS')
  const asked = await Promise.allSettled(
    endpoints.map(async of => ({ of, expiresMs: await timeout(connectTimeoutMs, expiry(of, open)) })),
  )
  const known = asked.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  const first = known.toSorted((one, other) => one.expiresMs - other.expiresMs)[0]
  if (first !== undefined) return judge(first.of, first.expiresMs)
  const reasons = asked.flatMap(one => (one.status === 'rejected' ? [reasonOf(one.reason)] : []))
  return skip(`not checked: ${reasons[0]}`)
}

function judge({ host, port }: Endpoint, expiresMs: number): Finding {
  const days = Math.floor((expiresMs - Date.now()) / dayMs)
  const found = `${host}:${port}: ${days < 0 ? 'expired' : 'expires'} ${new Date(expiresMs).toISOString().slice(0, 10)}`
  if (days >= soonDays) return ok(found)
  const mend = 'renew it, and see why this did not happen by itself'
  return days < lateDays ? fail(found, mend) : warn(found, mend)
}

/** When the first certificate of the server's chain expires (epoch milliseconds). */
async function expiry(of: Endpoint, open: (of: Endpoint) => Promise<TLSSocket>): Promise<number> {
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

/** Connects without judging the certificate: the clients of Tally do that. */
function openTls({ host, port }: Endpoint, socket?: Socket): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const to = socket === undefined ? { host, port } : { socket }
  const names = isIP(host) === 0 ? { servername: host } : {}
  const tls = connectTls({ ...to, ...names, rejectUnauthorized: false, timeout: connectTimeoutMs })
  tls
    .on('secureConnect', () => resolve(tls))
    .on('error', reject)
    .on('timeout', () => tls.destroy(new Error('no answer')))
  return promise
}

/** The message SSLRequest, after which Postgres answers S and speaks TLS. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

async function openPostgresTls(of: Endpoint): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connectTcp({ ...of, timeout: connectTimeoutMs })
  socket
    .on('error', reject)
    .on('timeout', () => socket.destroy(new Error('no answer')))
    .once('connect', () => socket.write(sslRequest))
    .once('data', answer => {
      if (String(answer) === 'S') return resolve(socket)
      socket.destroy()
      reject(new Error('Postgres offers no TLS'))
    })
  return openTls(of, await promise)
}
