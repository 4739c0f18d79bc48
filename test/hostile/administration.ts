import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseToken } from '@tally/access'

/** A person in the administration area without a browser: signs in wrongly and rightly, and makes a key. */
export async function useAdministration(
  area: string,
  { email, password, wrong }: { email: string; password: string; wrong: string },
): Promise<{ session: string; token: string; pages: string }> {
  const cookies = new Map<string, string>()
  let pages = ''
  const ask = async (path: string, form?: Record<string, string>): Promise<string> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const reply = await fetch(area + path, { ...body, headers: { cookie }, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return reply.body === null ? '' : text(Readable.fromWeb(reply.body as never))
  }
  const csrf = async (path: string) => /name="_csrf" value="([^"]+)"/.exec(await ask(path))?.[1] ?? ''
  pages += await ask('/sign-in', { _csrf: await csrf('/sign-in'), email, password: wrong })
  await ask('/sign-in', { _csrf: await csrf('/sign-in'), email, password })
  const session = cookies.get(`tally_session_${new URL(area).port}`) ?? ''
  const fields = { name: 'screen', scope: 'events:read', eventId: '', expires: 'never' }
  const made = await ask('/keys', { ...fields, _csrf: await csrf('/keys/new') })
  const token = /tally_\w{12}_\w{49}/.exec(made)?.[0] ?? ''
  for (const path of [
    '/keys',
    `/keys/${parseToken(token)?.keyId}`,
    '/audit',
    '/usage',
    '/operations',
    '/live',
  ])
    pages += await ask(path)
  return { session, token, pages }
}
