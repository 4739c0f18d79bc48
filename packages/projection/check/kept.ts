import { hash } from 'node:crypto'
import type { Event, Order, OrderId, Organization, RecordType, Refund, Rejected } from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import type { Placed } from '../effects.ts'
import {
  type Content,
  type DiffersIn,
  eventContent,
  orderContent,
  organizationContent,
  refundContent,
} from '../judge/contradiction.ts'
import { applyRefund } from '../judge/refund.ts'
import { applyEvent, applyOrganization, applyVersion } from '../judge/versioned.ts'

/**
 * What is remembered of an entity: its winning version with a digest of what that said, and the organization of an
 * event or the order of a refund. About 200 bytes, whatever the size of the record.
 */
type Kept = { version: number; digest: string; owner: string }

type Outcome = { outcome: 'applied' | 'duplicate' } | Rejected

/** How records of one type are judged by those before them, as the projector does (packages/projection/apply). */
type Judge<Value> = {
  id: (value: Value) => string
  owner?: (value: Value) => string
  content: (value: Value) => Content
  apply: (kept: Kept | undefined, value: Value, differsIn: DiffersIn) => Outcome
}

const judges: { [Type in RecordType]: Judge<never> } = {
  organizations: {
    id: ({ organizationId }: Organization) => organizationId,
    content: organizationContent,
    apply: applyOrganization,
  } satisfies Judge<Organization>,
  events: {
    id: ({ eventId }: Event) => eventId,
    owner: ({ organizationId }: Event) => organizationId,
    content: eventContent,
    apply: (kept, event, differsIn) =>
      applyEvent(
        kept && { ...kept, organizationId: kept.owner as Event['organizationId'] },
        event,
        differsIn,
      ),
  } satisfies Judge<Event>,
  orders: {
    id: ({ eventId, orderId }: Order) => `${eventId}${orderId}`,
    content: orderContent,
    apply: applyVersion,
  } satisfies Judge<Order>,
  refunds: {
    id: ({ eventId, refundId }: Refund) => `${eventId}${refundId}`,
    owner: ({ orderId }: Refund) => orderId,
    content: refundContent,
    apply: (kept, refund, differsIn) =>
      applyRefund(kept && { ...kept, orderId: kept.owner as OrderId }, refund, differsIn),
  } satisfies Judge<Refund>,
}

/** Opens the memory of a check: `judge` rejects what conflicts with or contradicts records that it judged before. */
export function createKept() {
  const known: Record<RecordType, Map<string, Kept>> = {
    organizations: new Map(),
    events: new Map(),
    orders: new Map(),
    refunds: new Map(),
  }

  const judge = (type: RecordType, records: Placed<unknown>[]): RejectedAt[] => {
    const { id, owner, content, apply } = judges[type] as Judge<{ version: number }>
    const rejected: RejectedAt[] = []
    for (const { offset, value } of records as Placed<{ version: number }>[]) {
      const key = id(value)
      const kept = known[type].get(key)
      const digest = digestOf(content(value))
      const outcome = apply(kept, value, () => (kept?.digest === digest ? undefined : 'version'))
      if (outcome.outcome === 'rejected') rejected.push({ offset, rejected: outcome })
      if (outcome.outcome === 'applied')
        known[type].set(key, { version: value.version, digest, owner: owner?.(value) ?? '' })
    }
    return rejected
  }
  return { judge }
}

/** 96 bits: of a million orders, two contents with one digest are not to be expected. */
const digestOf = (content: Content): string => hash('sha1', JSON.stringify(content), 'base64').slice(0, 16)
