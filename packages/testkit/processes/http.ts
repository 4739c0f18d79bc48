import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { jsonOf } from '@tally/contract'

export type Reply = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed body; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the service sent
  body: any
}

export type Ask = { method?: string; headers?: Record<string, string | string[]>; token?: string | undefined }

/** Ends idle connections long before the server does (72 s), which may fail a request just then (RFC 9112, 9.3.1). */
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 30_000 })

/** One request with the path byte for byte as given, unlike fetch; redirects are not followed. `token`: X-Api-Key. */
export function ask(address: string, path: string, { method = 'GET', headers = {}, token }: Ask = {}) {
  const { hostname, port } = new URL(address)
  const own = token === undefined ? {} : { 'X-Api-Key': token }
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const outgoing = request(
    { agent, hostname, port, path, method, headers: { ...own, ...headers } },
    incoming => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: jsonOf(text) })
      })
    },
  )
  outgoing.on('error', reject).end()
  return promise
}
