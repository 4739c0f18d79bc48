import type { ListedEvent } from '@tally/figures'
import { type Html, html } from '../views/html.ts'
import { settleLinks } from './links.ts'

/** What the days of an event are settled by: sheet and files, and what each is for. Without a day, those of all days. */
export function settleActions(
  { eventId, days }: Pick<ListedEvent, 'eventId' | 'days'>,
  dayId: number | undefined,
  isSheet = false,
): Html {
  const { sheet, figures, orders, excel } = settleLinks(eventId, dayId)
  const isDay = dayId !== undefined
  const links: [boolean, string, string][] = [
    [!isSheet, sheet, 'End-of-day sheet'],
    [isSheet, excel.sheet, 'Sheet (Excel)'],
    [true, excel.figures, 'Figures (Excel)'],
    [isDay, excel.orders, 'Orders (Excel)'],
    [true, figures, 'Figures (CSV)'],
    [isDay, orders, 'Orders (CSV)'],
    [isDay && days.length > 1, settleLinks(eventId).sheet, 'All days'],
  ]
  return html`<div class="actions">${links.map(([isThere, href, name]) => (isThere ? html`<a class="button" href="${href}">${name}</a>` : ''))}${isSheet ? html`<button type="button" class="primary" id="print">Print</button>` : ''}
<p class="faint">The sheet is to be read and printed, figures are for calculations.${isDay ? ' Orders: add up takings; cancelled and unpaid orders have 0.' : ''}</p></div>`
}
