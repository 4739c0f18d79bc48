import { connect, type Socket } from 'node:net'

/** Everything that a connection received; `closed` is false if the server still held it open at the timeout. */
export type Heard = { text: string; closed: boolean; tookMs: number }

export type Talk = { timeoutMs?: number; halfClose?: boolean }

/** Sends bytes over a new connection and reads to its end, `timeoutMs` at most. `halfClose`: shuts the sending half. */
export function talk(
  address: string,
  bytes: string | Buffer | Buffer[],
  { timeoutMs = 30_000, halfClose = false }: Talk = {},
): Promise<Heard> {
  const began = performance.now()
  const socket = open(address)
  const { promise, resolve } = Promise.withResolvers<Heard>()
  const heard = listenTo(socket)
  const end = (closed: boolean) => {
    clearTimeout(timer)
    socket.destroy()
    resolve({ ...heard, closed, tookMs: performance.now() - began })
  }
  const timer = setTimeout(() => end(false), timeoutMs)
  // A server that hangs up while bytes still come resets the connection: that is an end like another.
  socket.on('error', () => {}).on('close', () => end(true))
  for (const part of [bytes].flat())
    socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part)
  if (halfClose) socket.end()
  return promise
}

export function open(address: string): Socket {
  const { hostname, port } = new URL(address)
  return connect({ host: hostname, port: Number(port), noDelay: true })
}

/** What a socket has received so far, as Latin-1. */
export function listenTo(socket: Socket): Pick<Heard, 'text'> {
  const heard = { text: '' }
  socket.setEncoding('latin1').on('data', (more: string) => {
    heard.text += more
  })
  return heard
}

/** The statuses of all replies in what was heard, in their order. */
export const statusesOf = ({ text }: Pick<Heard, 'text'>): number[] =>
  [...text.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))

/** A request's bytes: the target and header lines as they are, `Connection: close` so that the server hangs up. */
export function requestBytes(
  method: string,
  target: string,
  { headers = [], body = '', version = '1.1' }: { headers?: string[]; body?: string; version?: string } = {},
): string {
  return [
    `${method} ${target} HTTP/${version}`,
    'Host: tally',
    ...headers,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
