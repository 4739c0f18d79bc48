import type { EventDay } from '@tally/contract'
import { byOpening } from '../day/names.ts'
import { eventFacts } from '../keys/events.ts'
import type { Format } from '../views/format.ts'
import { attribute, type Html, html } from '../views/html.ts'
import type { Picked, PickedOfAll } from './pick.ts'

type Shown = Omit<PickedOfAll, 'events'>

/** The address of a day of the picked event and area, without the day's number, which is at its end. */
export const addressOf = ({ event, areaId }: Pick<Picked, 'event' | 'areaId'>): string =>
  `/live?eventId=${event.eventId}${areaId === undefined ? '' : `&area=${areaId}`}&day=`

/** The other festivals, if there are any: a list that opens without a script. */
export function festivalList({ events, event }: PickedOfAll, format: Format): Html {
  if (events.length < 2) return html``
  return html`<details class="festivals"><summary>Change festival</summary>
<ul class="plain">${events.map(
    one =>
      html`<li><a href="/live?eventId=${one.eventId}"${one === event ? html` aria-current="true"` : ''}><span><bdi>${one.name}</bdi>${eventFacts(one, format)}</span></a></li>`,
  )}</ul></details>`
}

/** One line: the day between the one before and the next, and the area. What the event has only one of is not asked. */
export function dayPicker({ event, dayId, areaId }: Shown, format: Format): Html {
  const days = event.days.toSorted(byOpening)
  const { areas } = event
  if (dayId === undefined || (days.length < 2 && areas.length < 2)) return html``
  const place = days.findIndex(day => day.dayId === dayId)
  const address = addressOf({ event, areaId })
  const step = (day: EventDay | undefined, arrow: string, name: string) =>
    day === undefined
      ? html`<span class="button step" aria-hidden="true">${arrow}</span>`
      : html`<a class="button step" href="${address}${day.dayId}" aria-label="${name}: ${format.weekday(day.date)}">${arrow}</a>`
  const daySelect = html`${step(days[place - 1], '‹', 'Day before')}<select name="day" aria-label="Day">
${days.toReversed().map(day => html`<option value="${day.dayId}"${attribute('selected', day.dayId === dayId)}>${format.weekday(day.date)}</option>`)}
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
