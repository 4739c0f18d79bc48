import { formatTimestamp } from '@tally/contract'
import type { EventOverview } from '@tally/figures'

export const heading = lineOf('ORGANIZATION', 'EVENT', 'STARTS', 'LAST SALE', 'ORDERS', 'NAME')

/** A line about an event; `-` stands for what is not known. */
export function eventLine(event: EventOverview): string {
  const { organizationId, eventId, startDate, lastSaleAt, orders, organizationName, name } = event
  const names = [organizationName, name].map(one => one ?? '-').join(': ')
  return lineOf(organizationId ?? '-', eventId ?? '-', day(startDate), day(lastSaleAt), String(orders), names)
}

/** The event as `--json` prints it: times as the API answers them. */
export function eventJson({ startDate, lastSaleAt, ...event }: EventOverview): string {
  return JSON.stringify({
    ...event,
    startDate: startDate === null ? null : formatTimestamp(startDate),
    lastSaleAt: lastSaleAt === null ? null : formatTimestamp(lastSaleAt),
  })
}

const day = (at: number | null): string => (at === null ? '-' : formatTimestamp(at).slice(0, 10))

/** Columns; the number of orders is on the right of its own. */
function lineOf(...cells: string[]): string {
  return cells
    .map((cell, n) => (n === 4 ? cell.padStart(9) : cell.padEnd([36, 36, 10, 10][n] ?? 0)))
    .join('  ')
}
