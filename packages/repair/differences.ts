import type { EventId, OrganizationId } from '@tally/contract'

/** One figure that differs: `what` names it, `found` is stored, `counted` is correct, null if there is none. */
export type Difference = ({ event: EventId } | { organization: OrganizationId }) & {
  where: 'postgres' | 'redis'
  what: string
  found: unknown
  counted: unknown
}

/** A difference without its event or organization. */
export type Finding = Pick<Difference, 'where' | 'what' | 'found' | 'counted'>
