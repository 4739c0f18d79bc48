import { parseToken } from '@tally/access'
import { visitorAt } from '@tally/testkit/processes/visitor'

/** A person in the administration area without a browser: signs in wrongly and rightly, and makes a key. */
export async function useAdministration(
  area: string,
  { email, password, wrong }: { email: string; password: string; wrong: string },
): Promise<{ session: string; token: string; pages: string }> {
  const visitor = visitorAt(area)
  let pages = (await visitor.post('/sign-in', { email, password: wrong })).text
  await visitor.post('/sign-in', { email, password })
  const session = visitor.cookies.get(`tally_session_${new URL(area).port}`) ?? ''
  const fields = { name: 'screen', scope: 'events:read', eventId: '', ends: 'never' }
  const made = await visitor.post('/keys', fields, '/keys/new')
  const token = /tally_\w{12}_\w{49}/.exec(made.text)?.[0] ?? ''
  const key = `/keys/${parseToken(token)?.keyId}`
  for (const path of ['/keys', key, '/audit', '/usage', '/operations', '/live'])
    pages += (await visitor.get(path)).text
  return { session, token, pages }
}
