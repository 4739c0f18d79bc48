import {
  type Event,
  isObject,
  type Order,
  type Organization,
  type Refund,
  type Rejected,
} from '@tally/contract'
import { linesByItem } from '@tally/figures'

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

/** Whether a version of an entity replaces the known one: the highest wins (docs/records.md, Which record wins). */
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
