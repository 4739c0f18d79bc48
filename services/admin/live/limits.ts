import type { OrganizationId } from '@tally/contract'
import type { AdminDeps } from '../deps.ts'
import { createSharedPlaces, type Place } from './places.ts'

/** Live screens that may be open: a browser opens one for each tab. */
const mostScreens = { process: 2_000, organization: 200, viewer: 20 }

/** Who watches: a session or a screen link, of an organization. */
export type Viewer = { organizationId: OrganizationId; viewer: `session-${number}` | `link-${number}` }

/**
 * Counts open screens: in this process, and with Redis in all processes. `take` returns the place, or undefined if
 * there is none.
 */
export function createScreenLimits(deps: Pick<AdminDeps, 'redis' | 'keys' | 'logger'>): {
  take(viewer: Viewer): Promise<Place | undefined>
} {
  const shared = createSharedPlaces(deps)
  const open = new Map<string, number>()
  const add = (key: string, by: number) => {
    const count = (open.get(key) ?? 0) + by
    if (count === 0) open.delete(key)
    else open.set(key, count)
  }

  const takeHere = (owners: [string, number][]): Place | undefined => {
    if (owners.some(([owner, most]) => (open.get(owner) ?? 0) >= most)) return undefined
    for (const [owner] of owners) add(owner, 1)
    return {
      keep: () => {},
      release: () => {
        for (const [owner] of owners) add(owner, -1)
      },
    }
  }

  return {
    async take({ organizationId, viewer }) {
      const everywhere: [string, number][] = [
        [organizationId, mostScreens.organization],
        [viewer, mostScreens.viewer],
      ]
      const here = takeHere([['process', mostScreens.process], ...everywhere])
      if (here === undefined) return undefined
      const places = [
        here,
        ...(await Promise.all(everywhere.map(([owner, most]) => shared.take(owner, most)))),
      ]
      const release = () => {
        for (const place of places) place?.release()
      }
      if (places.includes(undefined)) return void release()
      return {
        keep: () => {
          for (const place of places) place?.keep()
        },
        release,
      }
    },
  }
}
