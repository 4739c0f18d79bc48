import type { OrganizationId } from '@tally/contract'

/** Live screens that may be open in one process: a browser opens one for each tab. */
const mostScreens = { process: 2_000, organization: 200, session: 20 }

/** Who watches: a session or a screen link, of an organization. */
export type Viewer = { organizationId: OrganizationId; viewer: `session ${number}` | `link ${number}` }

/** Counts open screens; `take` returns what gives the place back, or undefined if there is none. */
export function openScreenLimits(): { take(viewer: Viewer): (() => void) | undefined } {
  const open = new Map<string, number>()
  const add = (key: string, by: number) => {
    const count = (open.get(key) ?? 0) + by
    if (count === 0) open.delete(key)
    else open.set(key, count)
  }
  return {
    take({ organizationId, viewer }) {
      const owners: [string, number][] = [
        ['process', mostScreens.process],
        [`organization ${organizationId}`, mostScreens.organization],
        [viewer, mostScreens.session],
      ]
      if (owners.some(([key, most]) => (open.get(key) ?? 0) >= most)) return undefined
      for (const [key] of owners) add(key, 1)
      return () => {
        for (const [key] of owners) add(key, -1)
      }
    },
  }
}
