import { request } from 'node:http'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import type { Postgres } from '@tally/platform'
import { visitorAt } from '@tally/testkit/processes/visitor'

const password = 'many screens, one evening'

/** Creates an administrator of an organization and signs in; returns the Cookie header of the session. */
export async function signIn(db: Postgres, address: string, organizationId: string): Promise<string> {
  const email = `bench-${organizationId}@example.org`
  const passwordHash = await hashPassword(password)
  const wanted = { organizationId: organizationId as OrganizationId, email, isPlatform: false, passwordHash }
  await createAdministrator(db, wanted)
  const visitor = visitorAt(address)
  const { status } = await visitor.post('/sign-in', { email, password })
  if (status !== 303) throw new Error(`the administration area refused the sign-in: ${status}`)
  return visitor.cookie()
}

/** Opens a live screen as a browser does; `onOrders` gets the orders of each day. Resolves at the first, to its end. */
export async function openScreen(
  address: string,
  { cookie, eventId, dayId }: { cookie: string; eventId: string; dayId: number },
  onOrders: (orders: number) => void,
): Promise<() => void> {
  const shown = Promise.withResolvers<void>()
  const url = `${address}/live/stream?eventId=${eventId}&day=${dayId}`
  const outgoing = request(url, { agent: false, headers: { Cookie: cookie } }, incoming => {
    if (incoming.statusCode !== 200) shown.reject(new Error(`a live screen got ${incoming.statusCode}`))
    let text = ''
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const messages = text.split('\n\n')
      text = messages.pop() ?? ''
      for (const message of messages) {
        const orders = /"totalOrders":(\d+)/.exec(message)?.[1]
        if (orders === undefined) continue
        onOrders(Number(orders))
        shown.resolve()
      }
    })
    incoming.on('error', () => {})
  })
  outgoing.on('error', error => shown.reject(error)).end()
  await shown.promise
  return () => outgoing.destroy()
}
