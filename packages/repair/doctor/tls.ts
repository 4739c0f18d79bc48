import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { databaseAddresses, type Part, parseSentinels, type Settings, timeout } from '@tally/platform'
import { type Fault, faultOf } from './faults.ts'

const connectTimeoutMs = 2_000

/** Connects, by default without judging the certificate: the clients of Tally do that. */
export function openTls({ host, port }: Address, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const to = options.socket === undefined ? { host, port } : {}
  const names = isIP(host) === 0 ? { servername: host } : {}
  const tls = connectTls({
    ...to,
    ...names,
    rejectUnauthorized: false,
    timeout: connectTimeoutMs,
    ...options,
  })
  tls
    .on('secureConnect', () => resolve(tls))
    .on('error', reject)
    .on('timeout', () => tls.destroy(new Error('no answer')))
  return promise
}

const noTls = 'Postgres offers no TLS'
/** The message SSLRequest, after which Postgres answers S and speaks TLS. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** As openTls, after Postgres has been asked for TLS in its own protocol. */
export async function openPostgresTls(of: Address): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = connectTcp({ ...of, timeout: connectTimeoutMs })
  socket
    .on('error', reject)
    .on('timeout', () => socket.destroy(new Error('no answer')))
    .once('connect', () => socket.write(sslRequest))
    .once('data', answer => {
      if (String(answer) === 'S') return resolve(socket)
      socket.destroy()
      reject(new Error(String(answer) === 'N' ? noTls : 'it does not speak Postgres'))
    })
  return openTls(of, { socket: await promise })
}

/** What to write so that a part is connected to over TLS. */
const switchOn: Record<Part, string> = {
  kafka: 'set KAFKA_SSL=true, or name its port without TLS in KAFKA_BROKERS',
  redis: 'write rediss:// in place of redis:// in REDIS_URL, or name its port without TLS',
  postgres:
    'its port takes TLS without asking: add sslmode=verify-full&sslnegotiation=direct to DATABASE_URL, or name the port of Postgres itself',
}

/**
 * Why a part that is there does not answer, if that is because of TLS. Clients say only that the connection was closed
 * or too slow: a server that gets TLS where it expects none, or the other way round, says nothing else.
 */
export async function tlsFaultOf(part: Part, settings: Settings): Promise<Fault | undefined> {
  const { endpoints, isTls } = endpointsOf(part, settings)
  const found = await Promise.all(endpoints.map(endpoint => faultAt(part, endpoint, isTls)))
  return found.find(fault => fault !== undefined)
}

async function faultAt(part: Part, of: Address, isTls: boolean): Promise<Fault | undefined> {
  if (part === 'postgres') return (await takesOnlyTls(of)) ? speaksTls(part) : undefined
  if (!isTls) return (await succeeds(handshake(of))) ? speaksTls(part) : undefined
  try {
    await handshake(of, { rejectUnauthorized: true })
    return undefined
  } catch (error) {
    return part === 'redis' && (await answersPing(of)) ? speaksNoTls : faultOf(part, error)
  }
}

const speaksTls = (part: Part): Fault => ({ found: 'it speaks TLS', mend: switchOn[part] })
const speaksNoTls: Fault = {
  found: 'it does not speak TLS',
  mend: 'write redis:// in place of rediss:// in REDIS_URL, or name its port for TLS',
}

/** Whether TLS begins at once, as at a proxy. Postgres 17 takes that too, but also says whether it offers TLS. */
async function takesOnlyTls(of: Address): Promise<boolean> {
  const asked = timeout(connectTimeoutMs, openPostgresTls(of))
  const knowsRequest = await asked.then(
    socket => socket.destroy() !== undefined,
    ({ message }) => message === noTls,
  )
  return !knowsRequest && (await succeeds(handshake(of, { ALPNProtocols: ['postgresql'] })))
}

const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

async function handshake(of: Address, options: ConnectionOptions = {}): Promise<void> {
  const socket = await timeout(connectTimeoutMs, openTls(of, options))
  socket.destroy()
}

/** Whether a Redis answers without TLS; one without it waits for the rest of what it takes for a command. */
function answersPing(of: Address): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connectTcp({ ...of, timeout: connectTimeoutMs })
  socket
    .on('connect', () => socket.write('PING\r\n'))
    .on('data', answer => resolve(/^[-+]/.test(String(answer))))
    .on('error', () => resolve(false))
    .on('timeout', () => resolve(false))
    .on('close', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

export type Address = { host: string; port: number }

/** The addresses that the settings name for a part, and whether they are connected to over TLS. */
export function endpointsOf(part: Part, settings: Settings): { endpoints: Address[]; isTls: boolean } {
  switch (part) {
    case 'kafka': {
      const { brokers, ssl } = settings.kafka
      return { endpoints: brokers.map(broker => endpointOf(`kafka://${broker}`, 9092)), isTls: ssl }
    }
    case 'postgres': {
      const addresses = databaseAddresses(settings.databaseUrl)
      return { endpoints: addresses.map(one => endpointOf(one, 5432)), isTls: addresses.some(hasTls) }
    }
    case 'redis': {
      const [first = ''] = settings.redisNodes
      const sentinels = parseSentinels(first)
      if (sentinels !== undefined) return { endpoints: sentinels.sentinels, isTls: sentinels.isTls }
      const endpoints = settings.redisNodes.map(node => endpointOf(node, 6379))
      return { endpoints, isTls: first.startsWith('rediss:') }
    }
    default:
      return part satisfies never
  }
}

/** TLS as pg reads it from the address. */
function hasTls(address: string): boolean {
  const { searchParams } = new URL(address)
  const mode = searchParams.get('sslmode')
  if (mode !== null) return mode !== 'disable'
  return searchParams.has('sslrootcert') || /^(true|1|no-verify)$/.test(searchParams.get('ssl') ?? '')
}

function endpointOf(address: string, usualPort: number): Address {
  const { hostname, port } = new URL(address)
  return { host: hostname.replace(/^\[(.+)\]$/, '$1') || 'localhost', port: Number(port || usualPort) }
}
