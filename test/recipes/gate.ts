import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request that passed, and how it was answered. */
type Passed = { path: string; headers: IncomingHttpHeaders; status: number; at: number }

export type Gate = {
  url: string
  passed: Passed[]
  /** The next request is answered 429, with this `Retry-After`: seconds, or a date. */
  refuseNext: (retryAfter: number | string) => void
  close: () => Promise<void>
}

/** An address in front of the API: it notes each request, and can refuse one. */
export async function openGate(api: string): Promise<Gate> {
  const passed: Passed[] = []
  let refusal: number | string | undefined
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const note = (status: number) => passed.push({ path, headers, status, at: performance.now() })
    if (refusal !== undefined) {
      response.writeHead(429, { 'retry-after': String(refusal) }).end('{}')
      refusal = undefined
      return void note(429)
    }
    const asked = new Headers(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    for (const name of ['host', 'connection']) asked.delete(name)
    const reply = await fetch(`${api}${path}`, { headers: asked })
    const answered = [...reply.headers].filter(
      ([name]) => !/^(connection|content-length|date|keep-alive)$/.test(name),
    )
    response.writeHead(reply.status, Object.fromEntries(answered)).end(await reply.text())
    note(reply.status)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    refuseNext: retryAfter => {
      refusal = retryAfter
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
