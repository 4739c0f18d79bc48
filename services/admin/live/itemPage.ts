import { type MenuItemId, toCents, toEuros } from '@tally/contract'
import { hourIn, type ItemHour, readItemHours } from '@tally/figures'
import { inSnapshot } from '@tally/platform'
import type { FastifyInstance } from 'fastify'
// @ts-expect-error a plain script of the browser
import { hoursChart, hoursTable } from '../assets/hoursChart.js'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound, unavailable } from '../http/problem.ts'
import type { Format } from '../views/format.ts'
import { type Html, html, htmlOf } from '../views/html.ts'
import type { Beat, DayShown } from './day.ts'
import { itemId, pickDay } from './pick.ts'
import { addressOf } from './view.ts'

type Item = DayShown['counts'][number]
type Evening = { day: DayShown; beat: Beat; item: Item; hours: ItemHour[]; before: ItemHour[] }
type Around = { format: Format; back: string; timeZone: string; area: string | undefined }

/** A menu item's evening by hour, next to the day before. */
export function itemPage(area: FastifyInstance, { db, live }: AdminDeps): void {
  area.get('/live/item', async (request, reply) => {
    const item = itemId.safeParse(request.query)
    const { event, dayId, areaId } = await pickDay(db, request)
    if (!item.success || dayId === undefined) throw notFound()
    const menuItemId = item.data.item as MenuItemId
    const read = await live.read({ eventId: event.eventId, dayId, areaId })
    if (read === undefined) throw unavailable()
    const sold = read.day.counts.find(one => one.menuItemId === menuItemId)
    if (sold === undefined) throw notFound()
    const days = [dayId, ...(read.day.before === null ? [] : [read.day.before.dayId])]
    const [hours = [], before = []] = await inSnapshot(db, async snapshot => {
      const itemRef = { eventId: event.eventId, areaId, menuItemId }
      const hourOf = hourIn(event.timeZone)
      const found: ItemHour[][] = []
      for (const dayId of days) found.push(await readItemHours(snapshot, { ...itemRef, dayId }, hourOf))
      return found
    })
    const around = {
      format: formatOf(request),
      back: `${addressOf({ event, areaId })}${dayId}`,
      timeZone: event.timeZone,
      area: event.areas.find(one => one.areaId === areaId)?.name,
    }
    const body = itemView({ ...read, item: sold, hours, before }, around)
    return sendPage(request, reply, { title: sold.itemName, body })
  })
}

function itemView(
  { day, beat, item, hours, before }: Evening,
  { format, back, timeZone, area }: Around,
): Html {
  const { whole, money, percent } = format
  // Of the snapshot that has the hours, so that they add up while the item is sold.
  const sold = hours.reduce((sum, { quantity }) => sum + quantity, 0)
  const takings = toEuros(hours.reduce((cents, { revenue }) => cents + toCents(revenue), 0))
  const shown = {
    ...day,
    unit: ['portion', 'portions'],
    hours: hours.map(asBucket),
    before: day.before === null ? null : { ...day.before, hours: before.map(asBucket) },
  }
  const tile = (name: string, figure: string) =>
    html`<div class="tile"><dt>${name}</dt><dd>${figure}</dd></div>`
  const { totalSales } = day.kpis
  const share = totalSales > 0 ? percent(Math.round((takings / totalSales) * 100)) : '–'
  const upTo =
    beat.asOfMs === null ? 'Not counted yet' : `Counted up to ${format.time(beat.asOfMs, timeZone)}`
  return html`<p class="crumb"><a href="${back}">Live page</a></p>
<div class="heading"><div><h1><bdi>${item.itemName}</bdi></h1>
<p class="faint"><bdi>${day.eventName}</bdi>, ${format.weekday(day.date)}${day.opened}${area === undefined ? '' : html`, <bdi>${area}</bdi>`}. ${upTo}.</p></div></div>
<dl class="tiles">
<div class="tile main"><dt>Sold</dt><dd>${whole(sold)}</dd></div>
${tile('Takings', money(takings))}${tile('Share of takings', share)}${tile('Refunded', whole(item.quantityRefunded))}
</dl>
<section class="card" aria-labelledby="hours-title"><h2 id="hours-title">By hour</h2>
<div id="hours-chart" aria-hidden="true">${htmlOf(hoursChart(shown, format, { hours: 'orders' }))}</div>
<table class="sheet">${htmlOf(hoursTable(shown, format))}</table></section>
<p class="faint">Net of refunds: a refund counts for the hour of its order.</p>`
}

/** As the chart of orders takes it. */
const asBucket = ({ hour, quantity, revenue }: ItemHour) => ({ hour, orderCount: quantity, revenue })
