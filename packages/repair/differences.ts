import type { EventId, OrganizationId } from '@tally/contract'

/**
 * One figure that is not what counting again gives. `what` names it; `found` is what stands there, `counted` what
 * should; null where there is nothing.
 */
export type Difference = ({ event: EventId } | { organization: OrganizationId }) & {
  where: 'postgres' | 'redis'
  what: string
  found: unknown
  counted: unknown
}

/** A difference before it is said whose it is. */
export type Finding = Pick<Difference, 'where' | 'what' | 'found' | 'counted'>
