import type { IncomingHttpHeaders } from 'node:http'
import { serve } from '@tally/testkit/servers/serve'

/** One request that passed, and how it was answered. */
type Passed = { path: string; headers: IncomingHttpHeaders; status: number; at: number }

/** Status 0: the connection breaks. */
type Foreign = { status: number; headers?: Record<string, string>; body?: string }

export type Gate = {
  url: string
  passed: Passed[]
  /** The next request gets this answer in place of Tally's. */
  answerNext: (answer: Foreign) => void
  close: () => void
}

/** An address in front of the API: it notes each request, and can answer one itself. */
export async function openGate(api: string): Promise<Gate> {
  const passed: Passed[] = []
  let foreign: Foreign | undefined
  const { url, close } = await serve(async (request, response) => {
    const { url: path = '', headers } = request
    const note = (status: number) => void passed.push({ path, headers, status, at: performance.now() })
    if (foreign !== undefined) {
      const { status, headers, body } = foreign
      foreign = undefined
      if (status === 0) response.destroy()
      else response.writeHead(status, headers).end(body)
      return note(status)
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
  const answerNext = (answer: Foreign) => {
    foreign = answer
  }
  return { url, passed, answerNext, close }
}
