import { settleActions } from '../day/actions.ts'
import { eventFacts } from '../keys/events.ts'
import { dayLabel, labelledDays, nameOf } from '../views/dayLabels.ts'
import type { Format } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import type { Beat, DayShown } from './day.ts'
import { figuresView, firstParts, noFigures } from './figuresView.ts'
import type { LastFestival } from './lastFestival.ts'
import type { Picked, PickedOfAll } from './pick.ts'

export function noEventsView(): Html {
  return html`<section class="card empty">
<h1>No events yet</h1>
<p class="faint">An event appears here as soon as its first record arrives from the tills.</p>
</section>`
}

/** The figures as the page has them first, if they could be read, and those of the festival before. */
type Shown = {
  first: { day: DayShown; beat: Beat } | undefined
  last: LastFestival | undefined
  format: Format
}

/** The live screen of a day, which the script keeps up to date. */
export function liveView(picked: PickedOfAll, { first, last, format }: Shown): Html {
  const { event, dayId, areaId } = picked
  const address = addressOf(picked)
  const parts = first === undefined ? noFigures : firstParts(first.day, first.beat, format, address)
  const asOfMs = first?.beat.asOfMs ?? null
  const state = asOfMs === null ? 'Connecting …' : `Counted up to ${format.time(asOfMs, event.timeZone)}`
  const label = dayLabel(event, dayId)
  const date = label && nameOf(label, format.date)
  const stream = `/live/stream?eventId=${event.eventId}${dayId === undefined ? '' : `&day=${dayId}`}${areaId === undefined ? '' : `&area=${areaId}`}`
  return html`<div class="live" id="live" data-stream="${stream}" data-event="${event.eventId}" data-address="${address}">
<div class="heading">
<div><h1><bdi id="event">${event.name}</bdi>${date === undefined ? '' : html` <span class="date${event.days.length > 1 && label?.time === undefined ? ' below' : ''}" id="date">${date}</span>`}</h1>
<div class="named"><p class="status" id="status"><span class="dot"></span><span id="status-text" role="status">${date === undefined ? 'Waiting for the first day' : state}</span> <span class="faint" id="as-of"></span></p>${festivalList(picked, format)}</div>
${event.name.endsWith('(simulated)') ? simulated : ''}</div>
${dayPicker(picked, format)}
</div>
<p class="notice" id="open-day" role="status" hidden><span></span> <a href="">Show it</a></p>
<noscript><p class="warning">Without JavaScript this page does not change. Reload it for later figures.</p></noscript>
${dayId === undefined ? noDays : figuresView(parts, lastFestival(last, format))}
</div>
${dayId === undefined ? '' : settle(picked, dayId)}
<div class="actions foot"><button type="button" id="full-screen">Full screen</button></div>`
}

/** Of events that the feed makes up (services/feed/simulate/calendar.ts). */
const simulated = html`<p class="faint">Its evenings are simulated: their times are not those of your clock.</p>`

/** What the day is settled by. */
const settle = ({ event, areaId }: Picked, dayId: number): Html =>
  html`<section class="card settle" aria-labelledby="settle-title"><h2 id="settle-title">Settle the day${areaId === undefined ? '' : ', all areas'}</h2>
${settleActions(event, dayId)}</section>`

const noDays = html`<section class="card empty"><p class="big">No days yet</p>
<p class="faint">This event has no days. A day appears here as soon as the event lists it.</p></section>`

function lastFestival(last: LastFestival | undefined, { money, whole }: Format): Html {
  if (last === undefined) return html``
  const { event, totalSales, dates } = last
  return html`<section class="card" aria-labelledby="last-title"><h2 id="last-title">Last festival</h2>
<p class="last"><a href="/live?eventId=${event.eventId}"><bdi>${event.name}</bdi></a> <span class="faint">${whole(dates)} ${dates === 1 ? 'day' : 'days'}</span> <strong class="number">${money(totalSales)}</strong></p></section>`
}

/** The address of a day of the picked event and area, without the day's number, which is at its end. */
export const addressOf = ({ event, areaId }: Pick<Picked, 'event' | 'areaId'>): string =>
  `/live?eventId=${event.eventId}${areaId === undefined ? '' : `&area=${areaId}`}&day=`

/** The other festivals, if there are any: a list that opens without a script. */
function festivalList({ events, event }: PickedOfAll, format: Format): Html {
  if (events.length < 2) return html``
  return html`<details class="festivals"><summary>Change festival</summary>
<ul class="plain">${events.map(
    one =>
      html`<li><a href="/live?eventId=${one.eventId}"${one === event ? html` aria-current="true"` : ''}><span><bdi>${one.name}</bdi>${eventFacts(one, format)}</span></a></li>`,
  )}</ul></details>`
}

/** One line: the day between the one before and the next, and the area. What the event has only one of is not asked. */
function dayPicker({ event, dayId, areaId }: Picked, format: Format): Html {
  const days = labelledDays(event).map(label => ({ dayId: label.dayId, name: nameOf(label, format.weekday) }))
  const { areas } = event
  if (dayId === undefined || (days.length < 2 && areas.length < 2)) return html``
  const place = days.findIndex(one => one.dayId === dayId)
  const address = addressOf({ event, areaId })
  const step = (to: (typeof days)[number] | undefined, arrow: string, where: string) =>
    to === undefined
      ? html`<span class="button step" aria-hidden="true">${arrow}</span>`
      : html`<a class="button step" href="${address}${to.dayId}" aria-label="${where}: ${to.name}">${arrow}</a>`
  const daySelect = html`${step(days[place - 1], '‹', 'Day before')}<select name="day" aria-label="Day">
${days.toReversed().map(one => html`<option value="${one.dayId}"${attribute('selected', one.dayId === dayId)}>${one.name}</option>`)}
</select>${step(days[place + 1], '›', 'Next day')}`
  const areaSelect = html`<select name="area" aria-label="Area">
<option value="">All areas</option>
${areas.map(area => html`<option value="${area.areaId}"${attribute('selected', area.areaId === areaId)}>${area.name}</option>`)}
</select>`
  return html`<form class="picker" method="get" action="/live" id="picker">
<input type="hidden" name="eventId" value="${event.eventId}">
${days.length < 2 ? html`<input type="hidden" name="day" value="${dayId}">` : daySelect}
${areas.length < 2 ? '' : areaSelect}
<noscript><button>Show</button></noscript>
</form>`
}
