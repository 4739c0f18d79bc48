import {
  type Event,
  isObject,
  type Order,
  type Organization,
  type Refund,
  type Rejected,
} from '@tally/contract'
import {
  type CountedOrder,
  changeRefunds,
  difference,
  type FactChange,
  type KnownOrder,
  linesByItem,
  type RefundChange,
} from '@tally/figures'

/** The outcome of a record that replaces the whole entity. */
type Replacement<Value> = { outcome: 'applied'; next: Value } | { outcome: 'duplicate' } | Rejected

/**
 * What a valid record does to what was known; the fourth outcome, rejected, is in the contract. `duplicate`: a repeat
 * or an old version; it changes nothing. `parked`: stored, and counts as soon as what it waits for arrives.
 */
export type Outcome<Known> =
  | { outcome: 'applied'; next: Known; changes: FactChange[] }
  | { outcome: 'parked'; next: Known; waitsFor: 'order' }
  | { outcome: 'duplicate' }

/** The highest version of an entity wins (docs/records.md, Which record wins). */
export function applyVersion<Value extends { version: number }>(
  known: { version: number } | undefined,
  record: Value,
  differsIn: DiffersIn,
): Replacement<Value> {
  if (known === undefined || isNewer(known, record)) return { outcome: 'applied', next: record }
  return judgeRepeat(known, record, differsIn)
}

/** Whether a version of an entity replaces the known one. */
export function isNewer(known: { version: number } | undefined, record: { version: number }): boolean {
  return known === undefined || record.version > known.version
}

/** Returns the first field in which a record differs from the applied one of its version; undefined for a repeat. */
export type DiffersIn = () => string | undefined

/**
 * The outcome of a record that is not newer than the applied one: a repeat or an old version is a duplicate, and a
 * record that says something else under the applied version a contradiction. `differsIn` returns the first field in
 * which they differ; it is called only if the versions are equal.
 */
export function judgeRepeat(
  applied: { version: number },
  record: { version: number },
  differsIn: DiffersIn,
): { outcome: 'duplicate' } | Rejected {
  const field = record.version < applied.version ? undefined : differsIn()
  if (field === undefined) return { outcome: 'duplicate' }
  return {
    outcome: 'rejected',
    reason: 'contradiction',
    message: `${field}: another record with this id and version was applied before and says something else here. Use a higher version for each change, and numbers of orders that are unique within the event`,
  }
}

/** An organization has no further rule. */
export const applyOrganization = applyVersion<Organization>

/**
 * `applyVersion` for records whose `owner` never changes: one that names another owner than the first one applied is
 * rejected with `conflict`, whatever its version.
 */
const ownedBy =
  <Owner extends string>(owner: Owner, conflict: string) =>
  <Value extends { version: number } & Record<Owner, string>>(
    known: ({ version: number } & Record<Owner, string>) | undefined,
    record: Value,
    differsIn: DiffersIn,
  ): Replacement<Value> =>
    known !== undefined && record[owner] !== known[owner]
      ? { outcome: 'rejected', reason: 'conflict', message: `${owner}: ${conflict}` }
      : applyVersion(known, record, differsIn)

/** docs/records.md, Event. */
export const applyEvent = ownedBy(
  'organizationId',
  'an event never changes organization, and this one belongs to another',
)

/** docs/records.md, Refund. */
export const applyRefund = ownedBy(
  'orderId',
  'a refund never changes its order, and this one belongs to another',
)

/** Applies one version of an order; in whatever order they arrive, `isNewer` decides. */
export function applyOrder<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  order: Counted,
): Exclude<Outcome<KnownOrder<Counted>>, { outcome: 'parked' }> {
  if (!isNewer(known.order, order)) return { outcome: 'duplicate' }
  const next = { order, refunds: known.refunds }
  return { outcome: 'applied', next, changes: difference(known, next) }
}

/**
 * Applies what changed in the refunds of one order. Refunds whose order is unknown are parked. All refunds of a batch
 * are applied together, because the change covers the whole order: one by one, 200 refunds would read its 500 lines 200
 * times.
 */
export function applyRefundsToOrder<Counted extends CountedOrder>(
  known: KnownOrder<Counted>,
  changes: RefundChange[],
): Extract<Outcome<KnownOrder<Counted>>, { outcome: 'applied' | 'parked' }> {
  const next = { order: known.order, refunds: changeRefunds(known.refunds, changes) }
  if (next.order === undefined) return { outcome: 'parked', next, waitsFor: 'order' }
  return { outcome: 'applied', next, changes: difference(known, next) }
}

/**
 * What a record says besides its ids and its version, in the form in which two records are compared: ids, numbers and
 * instants by value, an order's lines in their order, a refund's lines by their sums per item, an event's lists by id
 * (docs/records.md, Which record wins).
 */
export type Content = Record<string, unknown>

export const organizationContent = ({ name, status }: Pick<Organization, 'name' | 'status'>): Content => ({
  name,
  status,
})

export const eventContent = ({ name, startDate, timeZone, areas, days, menuItems }: Event): Content => ({
  name,
  startDate,
  timeZone,
  areas: areas.toSorted((one, other) => one.areaId - other.areaId),
  days: days.toSorted((one, other) => one.dayId - other.dayId),
  menuItems: menuItems.toSorted((one, other) => one.menuItemId - other.menuItemId),
})

export const orderContent = ({ eventId: _, orderId: __, version: ___, ...content }: Order): Content => content

export const refundContent = ({
  refundedAt,
  amount,
  lines,
}: Pick<Refund, 'refundedAt' | 'amount' | 'lines'>): Content => ({
  refundedAt,
  amount,
  lines: linesByItem(lines),
})

/**
 * The first field in which two records of one version differ; undefined if they say the same. A field that the applied
 * record does not have is not compared: an earlier Tally did not keep it.
 */
export function differingField(applied: Content, record: Content): string | undefined {
  return Object.keys(record).find(name => differ(applied[name], record[name]))
}

function differ(applied: unknown, said: unknown): boolean {
  if (applied === undefined) return false
  if (Array.isArray(said)) return !Array.isArray(applied) || areDifferentLists(applied, said)
  if (!isObject(said)) return applied !== said
  return !isObject(applied) || differingField(applied, said) !== undefined
}

const areDifferentLists = (applied: unknown[], said: unknown[]): boolean =>
  applied.length !== said.length || said.some((entry, index) => differ(applied[index], entry))
