import type { TopItem } from '@tally/contract'
import { counted, type Format } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { hourName } from './hours.ts'
import { settleLinks } from './links.ts'
import type { SettledDay } from './read.ts'

/** The end-of-day sheet: what the day took, by hour, payment method and item, to be printed. */
export function dayView(settled: SettledDay, format: Format): Html {
  const { event, day } = settled
  const links = settleLinks(event.eventId, day.dayId)
  return html`<p class="crumb"><a href="/live?eventId=${event.eventId}&day=${day.dayId}">Live</a></p>
<div class="heading">
<div><h1>${event.name}</h1>
<p class="big">${format.date(day.date)}</p>
<p class="faint">${stateOf(settled, format)}</p></div>
<div class="actions"><a class="button" href="${links.excel.sheet}">Sheet (Excel)</a><a class="button" href="${links.excel.figures}">Figures (Excel)</a><a class="button" href="${links.excel.orders}">Orders (Excel)</a><a class="button" href="${links.figures}">Figures (CSV)</a><a class="button" href="${links.orders}">Orders (CSV)</a><button type="button" class="primary" id="print">Print</button></div>
</div>
${totals(settled, format)}
${hourTable(settled, format)}
${paymentTable(settled, format)}
${itemTable(settled, format)}
<p class="faint">Takings are the totals of paid orders less their refunds. A refund counts for the day and hour of its order. Items do not add up to the takings: discounts, cover charges and refunds of money only belong to no item.</p>`
}

/** Whether the figures can still change, and up to when they are complete. */
function stateOf({ event, day, asOfMs }: SettledDay, format: Format): string {
  const upTo = asOfMs === null ? 'Not counted yet' : `Counted up to ${format.time(asOfMs, event.timeZone)}`
  const open = day.closedAt === null ? 'The day is still open: its figures will change. ' : ''
  return `${open}${upTo} (${event.timeZone}).`
}

function totals({ kpis, all }: SettledDay, { whole, money }: Format): Html {
  const of = counted(all.refundedOrders, 'order', whole)
  return html`<section class="card"><h2>Totals</h2>
<table class="sheet"><caption class="hidden">Totals of the day</caption><tbody>
<tr><th scope="row">Orders</th><td class="number">${whole(kpis.totalOrders)}</td></tr>
<tr><th scope="row">Items sold</th><td class="number">${whole(kpis.totalItemsSold)}</td></tr>
<tr><th scope="row">Total of the orders</th><td class="number">${money(all.total)}</td></tr>
<tr><th scope="row">Refunded <span class="faint">(${of})</span></th><td class="number">${money(-all.refunded)}</td></tr>
<tr class="sum"><th scope="row">Takings</th><td class="number">${money(kpis.totalSales)}</td></tr>
</tbody></table></section>`
}

function hourTable({ hours }: SettledDay, { whole, money }: Format): Html {
  return html`<section class="card"><h2>By hour</h2>
<table class="sheet"><caption class="hidden">Orders and takings by hour</caption>
<thead><tr><th scope="col">Hour</th><th scope="col" class="number">Orders</th><th scope="col" class="number">Takings</th></tr></thead>
<tbody>${hours.map(({ hour, orderCount, revenue }) => html`<tr><th scope="row">${hourName(hour)}</th><td class="number">${whole(orderCount)}</td><td class="number">${money(revenue)}</td></tr>`)}</tbody></table></section>`
}

function paymentTable({ payments }: SettledDay, { whole, money }: Format): Html {
  return html`<section class="card"><h2>By payment method</h2>
<table class="sheet"><caption class="hidden">Takings by payment method</caption>
<thead><tr><th scope="col">Method</th><th scope="col" class="number">Orders</th><th scope="col" class="number">Refunded</th><th scope="col" class="number">Takings</th></tr></thead>
<tbody>${payments.map(({ paymentMethod, orders, refunded, takings }) => html`<tr><th scope="row">${paymentMethod === '' ? 'Not named' : paymentMethod}</th><td class="number">${whole(orders)}</td><td class="number">${money(refunded)}</td><td class="number">${money(takings)}</td></tr>`)}</tbody></table></section>`
}

function itemTable({ sold, returned }: SettledDay, { whole, money }: Format): Html {
  const row = ({ itemName, quantity, refundedQuantity, revenue }: TopItem) =>
    html`<tr><th scope="row">${itemName}</th><td class="number">${whole(quantity)}</td><td class="number">${whole(refundedQuantity)}</td><td class="number">${money(revenue)}</td></tr>`
  const heading = html`<tr class="group"><th scope="rowgroup" colspan="4">Returned <span class="faint">(more came back than was sold, or money was given back)</span></th></tr>`
  return html`<section class="card"><h2>Items</h2>
<table class="sheet"><caption class="hidden">Items sold and refunded</caption>
<thead><tr><th scope="col">Item</th><th scope="col" class="number">Sold</th><th scope="col" class="number">Refunded</th><th scope="col" class="number">Takings</th></tr></thead>
<tbody>${sold.map(row)}</tbody>
${returned.length === 0 ? '' : html`<tbody>${heading}${returned.map(row)}</tbody>`}</table></section>`
}
