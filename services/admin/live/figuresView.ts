// @ts-expect-error a plain script of the browser
import * as script from '../assets/parts.js'
import type { Format } from '../views/format.ts'
import { attribute, type Html, html, htmlOf, type Tree } from '../views/html.ts'
import type { Beat, DayShown } from './day.ts'

/** The figures before any have been read. */
export const noFigures: Parts = { sales: ['–'], orders: ['–'], items: ['–'], average: ['–'] }

/** All figures of a day; the script draws the same parts into the same elements. */
export function figuresView(parts: Parts, lastFestival: Html): Html {
  const part = (id: string): Html => htmlOf(parts[id] ?? [])
  const isEmpty = (id: string) => attribute('hidden', part(id).length === 0)
  const tile = (id: string, name: string) =>
    html`<div class="tile"><dt>${name}</dt><dd id="${id}">${part(id)}</dd></div>`
  return html`<dl class="tiles">
<div class="tile main"><dt>Takings</dt><dd id="sales">${part('sales')}</dd><dd class="comparison" id="comparison">${part('comparison')}</dd></div>
${tile('orders', 'Orders')}${tile('items', 'Items sold')}${tile('average', 'Average order')}
</dl>
<div class="panels">
<section class="card" aria-labelledby="hours-title"><div class="titled"><h2 id="hours-title">By hour</h2>${choice('hours', 'By hour', ['Takings', 'Orders'])}</div>
<div id="hours-chart" aria-hidden="true">${part('hours-chart')}</div>
<table class="hidden" id="hours-table">${part('hours-table')}</table>
</section>
<div>
<section class="card" aria-labelledby="best-title"><div class="titled"><h2 id="best-title">Best sellers</h2>${choice('best', 'Best sellers by', ['Sold', 'Takings'])}</div>
<ol class="plain best" id="best">${part('best')}</ol>
<div id="returned-part"${isEmpty('returned')}><h3 id="returned-title">Returns and vouchers</h3>
<ul class="plain best" id="returned" aria-labelledby="returned-title">${part('returned')}</ul>
<p class="faint">Counted in items sold, but not in the portions on screens.</p></div></section>
<section class="card" aria-labelledby="days-title" id="days-part"${isEmpty('days')}><h2 id="days-title">Days</h2>
<ul class="plain days" id="days">${part('days')}</ul></section>
<section class="card" aria-labelledby="payments-title" id="payments-part"${isEmpty('payments')}><h2 id="payments-title">By payment method</h2>
<ul class="plain best" id="payments" aria-labelledby="payments-title">${part('payments')}</ul></section>
${lastFestival}
<section class="card" aria-labelledby="statuses-title"><h2 id="statuses-title">Orders by status</h2>
<dl class="plain statuses" id="statuses">${part('statuses')}</dl></section>
</div>
<section class="card items" aria-labelledby="counts-title"><div class="titled"><h2 id="counts-title">Items</h2>${choice('sort', 'Sort items by', ['Menu', 'Sold', 'Takings'])}</div>
<div id="search" hidden><label class="hidden" for="query">Search items</label><input type="search" id="query" placeholder="Search" autocomplete="off"></div>
<div id="counts">${part('counts')}</div></section>
</div>`
}

/** Buttons of which one is pressed, the first at the beginning; a script shows them, because they need one. */
function choice(name: string, label: string, [first, ...others]: [string, ...string[]]): Html {
  const button = (option: string, isPressed: boolean) =>
    html`<button type="button" value="${option.toLowerCase()}" aria-pressed="${String(isPressed)}">${option}</button>`
  return html`<div class="switch" role="group" aria-label="${label}" data-name="${name}" hidden>${button(first, true)}${others.map(other => button(other, false))}</div>`
}

/** The figures of a live page by the ids of the elements that hold them (assets/parts.js). */
type Parts = Record<string, Tree[]>

/** The parts as the page shows them first; `address` leads to another day when its number is appended. */
export const firstParts = (day: DayShown, beat: Beat, format: Format, address: string): Parts =>
  script.partsOf(day, beat, format, { ...script.firstChoice, address })
