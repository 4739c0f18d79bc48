import type { ListedEvent } from '@tally/figures'
import { type Html, html } from '../views/html.ts'

/** What a day of an event is settled by, or without one all days: the sheet and the files, and what each is for. */
export function settleActions(
  { eventId, days }: Pick<ListedEvent, 'eventId' | 'days'>,
  dayId: number | undefined,
  isSheet = false,
): Html {
  const all = `eventId=${eventId}`
  const isDay = dayId !== undefined
  const [of, name] = isDay ? [`${all}&day=${dayId}`, 'day'] : [all, 'days']
  const link = (isThere: boolean, path: string, text: string, query = of) =>
    isThere ? html`<a class="button" href="/live/${path}?${query}">${text}</a>` : ''
  return html`<div class="actions">${link(!isSheet, name, 'End-of-day sheet')}${link(isSheet, isDay ? 'sheet.xlsx' : 'days-sheet.xlsx', 'Sheet (Excel)')}${link(true, `${name}.xlsx`, 'Figures (Excel)')}${link(isDay, 'orders.xlsx', 'Orders (Excel)')}${link(true, `${name}.csv`, 'Figures (CSV)')}${link(isDay, 'orders.csv', 'Orders (CSV)')}${link(isDay && days.length > 1, 'days', 'All days', all)}${isSheet ? html`<button type="button" class="primary" id="print">Print</button>` : ''}
<p class="faint">The sheet is for reading, the figures for calculations.${isDay ? ' To add up orders, use the column takings: cancelled and unpaid ones have 0.' : ''}</p></div>`
}
