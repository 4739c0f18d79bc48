import type { EventId, OrganizationId } from '@tally/contract'

/**
 * One figure that differs from the recounted one. `what` names it; `found` is the stored value, `counted` the correct
 * one, null if there is none.
 */
export type Difference = ({ event: EventId } | { organization: OrganizationId }) & {
  where: 'postgres' | 'redis'
  what: string
  found: unknown
  counted: unknown
}

/** A difference without its event or organization. */
export type Finding = Pick<Difference, 'where' | 'what' | 'found' | 'counted'>
