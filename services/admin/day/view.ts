import { offsetIn } from '@tally/contract'
import { counted, type Format } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { settleLinks } from './links.ts'
import type { Settled } from './settled.ts'
import { itemTable, paymentTable, periodTable } from './tables.ts'

type Around = { organizationName: string; format: Format; nowMs: number }

/** The end-of-day sheet: what a day or all days took, by hour or day, payment method and item, to be printed. */
export function sheetView(settled: Settled, { organizationName, format, nowMs }: Around): Html {
  const { event, day } = settled
  const dates = event.days.map(({ date }) => date).toSorted()
  const back = `/live?eventId=${event.eventId}${day === undefined ? '' : `&day=${day.dayId}`}`
  return html`<p class="crumb"><a href="${back}">Live page</a></p>
<div class="heading">
<div><p class="faint"><bdi>${organizationName}</bdi></p>
<h1><bdi>${event.name}</bdi></h1>
<p class="big">${day === undefined ? format.dates(dates.at(0) ?? '', dates.at(-1) ?? '') : format.date(day.date)}</p>
<p class="faint">${stateOf(settled, format)}<span class="on-paper"> Printed <span id="printed" data-clock="${nowMs + offsetIn(event.timeZone)(nowMs)}">${format.time(nowMs, event.timeZone)}</span>.</span></p></div>
${actions(settled)}
</div>
${totals(settled, format)}
${periodTable(settled, format)}
${paymentTable(settled, format)}
${itemTable(settled, format)}
<p class="faint">Takings are the totals of paid orders less their refunds. A refund counts for the day and hour of its order. Deposits are items.</p>
<dl class="on-paper signing"><dt>Counted cash</dt><dd></dd><dt>Difference</dt><dd></dd><dt>Signature</dt><dd></dd></dl>`
}

function actions({ event, day }: Settled): Html {
  const { figures, orders, excel } = settleLinks(event.eventId, day?.dayId)
  const ofDay = day !== undefined
  const others = event.days.length > 1
  return html`<div class="actions"><a class="button" href="${excel.sheet}">Sheet (Excel)</a><a class="button" href="${excel.figures}">Figures (Excel)</a>${ofDay ? html`<a class="button" href="${excel.orders}">Orders (Excel)</a>` : ''}<a class="button" href="${figures}">Figures (CSV)</a>${ofDay ? html`<a class="button" href="${orders}">Orders (CSV)</a>` : ''}${ofDay && others ? html`<a class="button" href="${settleLinks(event.eventId).sheet}">All days</a>` : ''}<button type="button" class="primary" id="print">Print</button></div>`
}

/** Whether the figures can still change, and up to when they are complete. */
function stateOf({ event, day, asOfMs }: Settled, format: Format): string {
  const upTo = asOfMs === null ? 'Not counted yet' : `Counted up to ${format.time(asOfMs, event.timeZone)}`
  const isOpen = (day === undefined ? event.days : [day]).some(({ closedAt }) => closedAt === null)
  const which = day === undefined ? 'A day' : 'The day'
  return `${isOpen ? `${which} is still open: its figures will change. ` : ''}${upTo} (${event.timeZone}).`
}

function totals({ day, kpis, all }: Settled, { whole, money }: Format): Html {
  const of = counted(all.refundedOrders, 'order', whole)
  return html`<section class="card"><h2>Totals</h2>
<table class="sheet"><caption class="hidden">Totals of ${day === undefined ? 'all days' : 'the day'}</caption><tbody>
<tr><th scope="row">Orders</th><td class="number">${whole(kpis.totalOrders)}</td></tr>
<tr><th scope="row">Items sold</th><td class="number">${whole(kpis.totalItemsSold)}</td></tr>
<tr><th scope="row">Total of the orders</th><td class="number">${money(all.total)}</td></tr>
<tr><th scope="row">Refunded <span class="faint">(${of})</span></th><td class="number">${money(-all.refunded)}</td></tr>
<tr class="sum"><th scope="row">Takings</th><td class="number">${money(kpis.totalSales)}</td></tr>
</tbody></table></section>`
}
