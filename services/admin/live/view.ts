import type { ListedEvent } from '@tally/read-models'
import { settleLinks } from '../day/links.ts'
import { eventLabel } from '../keys/events.ts'
import type { Format } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import type { Picked, PickedOfAll } from './pick.ts'

export function noEventsView(): Html {
  return html`<section class="card empty">
<h1>No events yet</h1>
<p class="faint">An event appears here as soon as its first record arrives from the tills.</p>
</section>`
}

/** The live screen of a day without figures, which the script fills in. */
export function liveView(picked: PickedOfAll, format: Format): Html {
  const { event, dayId } = picked
  const stream = `/live/stream?eventId=${event.eventId}${dayId === undefined ? '' : `&day=${dayId}`}`
  return html`${frame(picked, format, { stream, kind: 'live', actions: picker(picked, format) })}
${dayId === undefined ? '' : settle(event, dayId)}`
}

/** The live screen of a link: one event, nothing to choose. */
export function screenView(screenId: number, picked: Picked, format: Format): Html {
  return frame(picked, format, { stream: `/screen/${screenId}/stream`, kind: 'link', actions: html`` })
}

/** Of which kind the page is decides where its script goes when the stream may not continue. */
type Framed = { stream: string; kind: 'live' | 'link'; actions: Html }

function frame({ event, dayId }: Picked, format: Format, { stream, kind, actions }: Framed): Html {
  const date = event.days.find(day => day.dayId === dayId)?.date
  return html`<div class="live" id="live" data-stream="${stream}" data-kind="${kind}" data-event="${event.eventId}">
<div class="heading">
<div><h1><span id="event">${event.name}</span>${date === undefined ? '' : html` <span class="date" id="date">${format.date(date)}</span>`}</h1>
<p class="status" id="status"><span class="dot"></span><span id="status-text" role="status">${date === undefined ? 'Waiting for the first day' : 'Connecting …'}</span> <span class="faint" id="as-of"></span></p></div>
<div class="actions picker">${actions}
<button type="button" id="full-screen">Full screen</button></div>
</div>
<p class="notice" id="open-day" role="status" hidden><span></span> <a href="">Show it</a></p>
<noscript><p class="warning">The live screen needs JavaScript. All other pages work without it.</p></noscript>
${dayId === undefined ? noDays : figures}
</div>`
}

function picker({ events, event, dayId }: PickedOfAll, format: Format): Html {
  return html`<form method="get" action="/live" id="picker">
<label class="hidden" for="eventId">Event</label>
<select id="eventId" name="eventId">
${events.map(one => html`<option value="${one.eventId}"${attribute('selected', one === event)}>${eventLabel(one, format)}</option>`)}
</select>
<label class="hidden" for="day">Day</label>
<select id="day" name="day">
${event.days.toReversed().map(day => html`<option value="${day.dayId}"${attribute('selected', day.dayId === dayId)}>${format.date(day.date)}</option>`)}
</select>
<button>Show</button>
</form>
<a class="button" href="/screens">Screen links</a>`
}

/** What the day is settled by. */
function settle({ eventId }: ListedEvent, dayId: number): Html {
  const { sheet, figures, orders, excel } = settleLinks(eventId, dayId)
  return html`<section class="card settle" aria-labelledby="settle-title"><h2 id="settle-title">Settle the day</h2>
<div class="actions"><a class="button" href="${sheet}">End-of-day sheet</a><a class="button" href="${excel.figures}">Figures (Excel)</a><a class="button" href="${excel.orders}">Orders (Excel)</a><a class="button" href="${figures}">Figures (CSV)</a><a class="button" href="${orders}">Orders (CSV)</a></div></section>`
}

const noDays = html`<section class="card empty"><p class="big">No days yet</p>
<p class="faint">This event has no days. A day appears here as soon as the event lists it.</p></section>`

const tile = (id: string, name: string, isMain = false): Html =>
  html`<div class="tile${isMain ? ' main' : ''}"><dt>${name}</dt><dd id="${id}">–</dd></div>`

const figures = html`<dl class="tiles">
${tile('sales', 'Takings', true)}${tile('orders', 'Orders')}${tile('items', 'Items sold')}${tile('average', 'Average order')}
</dl>
<div class="panels">
<div>
<section class="card hours" aria-labelledby="hours-title"><h2 id="hours-title">Orders by hour</h2>
<div id="hours-chart" aria-hidden="true"></div>
<table class="hidden"><caption>Orders and takings by hour</caption><thead><tr><th scope="col">Hour</th><th scope="col">Orders</th><th scope="col">Takings</th></tr></thead><tbody id="hours-rows"></tbody></table>
</section>
<section class="card counts" aria-labelledby="counts-title"><h2 id="counts-title">Item counts</h2>
<ul class="counts" id="counts"></ul></section>
</div>
<div>
<section class="card" aria-labelledby="best-title"><h2 id="best-title">Best sellers</h2>
<ol class="best" id="best"></ol>
<div id="returned-part" hidden><h3 id="returned-title">Returned</h3>
<ul class="best" id="returned" aria-labelledby="returned-title"></ul></div></section>
<section class="card" aria-labelledby="statuses-title"><h2 id="statuses-title">Orders by status</h2>
<dl class="statuses" id="statuses"></dl></section>
</div>
</div>`
