import type { OrganizationId } from '@tally/contract'
import type { AdminDeps } from '../deps.ts'
import { createPlaces } from '../http/places.ts'
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
  const own = createPlaces()

  return {
    async take({ organizationId, viewer }) {
      const everywhere: [string, number][] = [
        [organizationId, mostScreens.organization],
        [viewer, mostScreens.viewer],
      ]
      const releaseOwn = own.take([['process', mostScreens.process], ...everywhere])
      if (releaseOwn === undefined) return undefined
      const places = await Promise.all(everywhere.map(([owner, most]) => shared.take(owner, most)))
      const release = () => {
        releaseOwn()
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
