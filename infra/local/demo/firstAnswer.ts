import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunContext, tally } from './tally.ts'

type Organization = {
  organizationId: string
  name: string
}

/** An API key of an organization. */
export type Key = Organization & {
  token: string
}

const timeoutMs = 120_000
const scopes = ['events:read', 'analytics:read', 'orders:read'].flatMap(scope => ['--scope', scope])

/** The organizations that the feed simulates; needs no connection. */
export async function feedOrganizations(context: RunContext): Promise<Organization[]> {
  const lines = await tally(['feed', '--list-organizations', '--json'], context)
  return lines
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Organization)
}

/**
 * A key for the feed's first organization that is known. The key of an earlier run is used again if it still works,
 * so that its curl line keeps working; otherwise a new one is created and kept in `keyFile`, readable by its owner
 * alone. Throws what the last attempt to create one threw, such as that no organization is known yet.
 */
export async function demoKey(
  address: string,
  keyFile: string,
  organizations: Organization[],
  context: RunContext,
): Promise<Key> {
  const kept = existsSync(keyFile) ? (JSON.parse(readFileSync(keyFile, 'utf8')) as Key) : undefined
  if (kept !== undefined && (await ask(address, '/api/v1/events', kept.token)).status !== 401) return kept
  let reason = new Error('the feed has no organization')
  for (const organization of organizations) {
    const whose = ['--organization', organization.organizationId, '--name', 'npm start']
    try {
      const printed = await tally(['keys', 'create', ...whose, ...scopes, '--json'], context)
      const key = { ...organization, token: (JSON.parse(printed) as { token: string }).token }
      writeFileSync(keyFile, JSON.stringify(key), { mode: 0o600 })
      return key
    } catch (error) {
      context.signal.throwIfAborted()
      reason = error as Error
    }
  }
  throw reason
}

/** An event as far as it matters here. */
type Event = {
  id: string
  isOpen: boolean
}

/** The events that a key may see; waits while the rate limit asks for it. */
export async function eventsOf(address: string, token: string, signal: AbortSignal): Promise<Event[]> {
  for (;;) {
    const { status, data, retryAfterMs } = await ask(address, '/api/v1/events', token)
    if (status !== 429) return data as Event[]
    await sleep(retryAfterMs, undefined, { signal })
  }
}

/** The path of an event's item counts; of an open event before the others; undefined if there is none. */
export function countsPath(events: Event[]): string | undefined {
  const event = events.find(({ isOpen }) => isOpen) ?? events[0]
  return event && `/api/v1/events/${event.id}/live/item-counts`
}

/** The id of the event in such a path. */
export const eventIn = (path: string | undefined): string => path?.split('/')[4] ?? ''

/**
 * Waits until the event that `countsPath` names has sold something, in this run or an earlier one, and returns the path
 * of its item counts, which has just answered; throws after two minutes.
 */
export async function untilCounted(address: string, token: string, signal: AbortSignal): Promise<string> {
  for (const until = Date.now() + timeoutMs; Date.now() < until; ) {
    const path = countsPath(await eventsOf(address, token, signal))
    if (path !== undefined) {
      const { status, data, retryAfterMs } = await ask(address, path, token)
      if (status === 200 && (data as { quantitySold: number }[]).length > 0) return path
      await sleep(retryAfterMs, undefined, { signal })
    }
    await sleep(500, undefined, { signal })
  }
  throw new Error('no order has been counted in two minutes; see the logs of the feed and the projector')
}

/** One request; `retryAfterMs` is how long the rate limit asks to wait, else 0. */
async function ask(address: string, path: string, token: string) {
  const answer = await fetch(address + path, { headers: { 'X-Api-Key': token } })
  const body = (await answer.json()) as { data?: unknown }
  const retryAfterMs = answer.status === 429 ? Number(answer.headers.get('retry-after') ?? 1) * 1000 : 0
  return { status: answer.status, data: body.data ?? [], retryAfterMs }
}
