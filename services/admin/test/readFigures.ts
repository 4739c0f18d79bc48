import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** What a stream of an area that listens sends until its first figures and their watermark. */
export async function readFigures(
  { server }: FastifyInstance,
  cookies: Map<string, string>,
  path: string,
): Promise<string> {
  const { port } = server.address() as AddressInfo
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const headers = { host: 'admin.test', cookie }
  const asked = get({ host: '127.0.0.1', port, path, headers, agent: false })
  const [reply] = await once(asked, 'response')
  let text = ''
  for await (const bytes of reply) {
    text += bytes
    if (text.includes('event: beat')) break
  }
  asked.destroy()
  return text
}
