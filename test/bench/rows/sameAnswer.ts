import { isDeepStrictEqual } from 'node:util'

/** Throws unless an address answers 200 with this `data`. */
export async function sameAnswer(url: string, token: string, data: unknown): Promise<void> {
  const reply = await fetch(url, { headers: { 'X-Api-Key': token } })
  const text = await reply.text()
  if (reply.status !== 200 || !isDeepStrictEqual(JSON.parse(text).data, data))
    throw new Error(`a wrong answer, so there is no figure: ${url}: ${reply.status} ${text.slice(0, 300)}`)
}
