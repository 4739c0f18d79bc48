import type { TopItem } from '@tally/contract'
import { nameOf } from '../views/dayLabels.ts'
import type { Format } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { paymentName, unlistedName } from './cells.ts'
import { closingOf, type Period, periodSums, type Settled, type Takings } from './settled.ts'

const number = (text: string): Html => html`<td class="number">${text}</td>`
const head = (text: string): Html => html`<th scope="col" class="number">${text}</th>`

/** The hours of a day, or the days of a festival, with their sum. */
export function periodTable({ day, periods, unlisted }: Settled, { whole, money, date }: Format): Html {
  const unit = day === undefined ? 'day' : 'hour'
  const shown = ({ name, label }: Period) => (label === undefined ? name : nameOf(label, date))
  const sums = periodSums(periods)
  return html`<section class="card"><h2>By ${unit}</h2>
<table class="sheet"><caption class="hidden">Orders and takings by ${unit}</caption>
<thead><tr><th scope="col">${day === undefined ? 'Day' : 'Hour'}</th>${head('Orders')}${head('Takings')}</tr></thead>
<tbody>${periods.map(period => html`<tr><th scope="row">${shown(period)}</th>${number(whole(period.orders))}${number(money(period.takings))}</tr>`)}
<tr class="sum"><th scope="row">Sum</th>${number(whole(sums.orders))}${number(money(sums.takings))}</tr>
${unlisted === undefined ? '' : html`<tr><th scope="row">${unlistedName}</th>${number(whole(unlisted.orders))}${number(money(unlisted.takings))}</tr>`}</tbody></table></section>`
}

export function paymentTable({ payments, all }: Settled, { whole, money }: Format): Html {
  const row = (name: string, { orders, total, refunded, takings }: Takings, isSum = false) =>
    html`<tr${isSum ? html` class="sum"` : ''}><th scope="row"><bdi>${name}</bdi></th>${number(whole(orders))}${number(money(total))}${number(money(-refunded))}${number(money(takings))}</tr>`
  return html`<section class="card"><h2>By payment method</h2>
<table class="sheet payments"><caption class="hidden">Takings by payment method</caption>
<thead><tr><th scope="col">Method</th>${head('Orders')}${head('Total')}${head('Refunded')}${head('Takings')}</tr></thead>
<tbody>${payments.map(payment => row(paymentName(payment.paymentMethod), payment))}
${row('Sum', all, true)}</tbody></table></section>`
}

/** The items, and below them what closes their sum to the takings. */
export function itemTable(settled: Settled, { whole, money }: Format): Html {
  const { sold, returned, items, all } = settled
  const row = ({ itemName, quantity, refundedQuantity, revenue }: TopItem) =>
    html`<tr><th scope="row"><bdi>${itemName}</bdi></th>${number(whole(quantity))}${number(whole(refundedQuantity))}${number(money(revenue))}</tr>`
  const heading = html`<tr class="group"><th scope="rowgroup" colspan="4">Returns and vouchers <span class="faint">(their number or takings are below zero)</span></th></tr>`
  return html`<section class="card"><h2>Items</h2>
<table class="sheet"><caption class="hidden">Items, and how they add up to the takings</caption>
<thead><tr><th scope="col">Item</th>${head('Sold')}${head('Refunded')}${head('Takings')}</tr></thead>
<tbody>${sold.map(row)}</tbody>
${returned.length === 0 ? '' : html`<tbody>${heading}${returned.map(row)}</tbody>`}
<tbody class="closing"><tr class="sum"><th scope="row">All items</th>${number(whole(items.quantity))}${number(whole(items.refundedQuantity))}${number(money(items.takings))}</tr>
${closingOf(settled).map(step => html`<tr><th scope="row" colspan="3">${step.name} <span class="faint">(${step.why})</span></th>${number(money(step.takings))}</tr>`)}
<tr class="sum"><th scope="row" colspan="3">Takings</th>${number(money(all.takings))}</tr></tbody></table></section>`
}
