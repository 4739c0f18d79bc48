import { offsetIn } from '@tally/contract'
import { topicNames } from '@tally/kafka'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import type { Cell, Column } from '../http/cells.ts'
import { csvLines, sendCsv } from '../http/csv.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sendXlsx } from '../http/xlsx.ts'
import type { DayRef } from '../live/day.ts'
import { pickDay } from '../live/pick.ts'
import { sessionOf } from '../signIn/guard.ts'
import { dayName } from '../views/dayLabels.ts'
import { counted, type Format } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { settleActions } from './actions.ts'
import { fileName } from './fileName.ts'
import { readSettled } from './read.ts'
import { figureColumns, figureRows, orderColumns, orderRows } from './rows.ts'
import type { Settled } from './settled.ts'
import { sheetColumns, sheetRows } from './sheet.ts'
import { itemTable, paymentTable, periodTable } from './tables.ts'

/** What an organizer settles by: the end-of-day sheet, its figures and its orders, as CSV and for Excel. */
export function dayPages(area: FastifyInstance, { db, topicPrefix }: AdminDeps): void {
  const { events, orders, refunds } = topicNames(topicPrefix)
  const topics = [events, orders, refunds]

  /** The requested day, or all days of the event, with its figures; 404 if it is not the organization's. */
  async function settledOf(request: FastifyRequest, isWhole = false) {
    const { event, dayId = 0 } = await pickDay(db, request)
    const ref = { eventId: event.eventId, dayId }
    const settled = await readSettled(db, topics, isWhole ? { eventId: event.eventId } : ref)
    if (settled === undefined) throw notFound()
    return { settled, ref, file: fileName(settled.event, settled.day) }
  }

  for (const { isWhole, name, sheet } of [
    { isWhole: false, name: 'day', sheet: 'sheet' },
    { isWhole: true, name: 'days', sheet: 'days-sheet' },
  ]) {
    area.get(`/live/${name}`, async (request, reply) => {
      const { settled } = await settledOf(request, isWhole)
      const format = formatOf(request)
      const { organizationName } = sessionOf(request)
      return sendPage(request, reply, {
        title: `${settled.event.name}, ${dayName(settled.event, settled.day?.dayId, format.date) ?? 'all days'}`,
        script: 'print.js',
        body: sheetView(settled, { organizationName, format, nowMs: Date.now() }),
      })
    })

    files(name, 'figures', isWhole, ({ settled }) => [figureColumns, figureRows(settled)])

    area.get(`/live/${sheet}.xlsx`, async (request, reply) => {
      const { settled, file } = await settledOf(request, isWhole)
      return sendXlsx(reply, { file, sheet: 'sheet' }, sheetColumns(settled), sheetRows(settled))
    })
  }
  files('orders', 'orders', false, ({ settled, ref }) => [orderColumns(settled), orderRows(db, settled, ref)])

  /** The same rows as CSV and for Excel. */
  function files(name: string, sheet: string, isWhole: boolean, rowsOf: (of: Requested) => Content) {
    area.get(`/live/${name}.csv`, async (request, reply) => {
      const found = await settledOf(request, isWhole)
      return sendCsv(reply, `${found.file}-${sheet}`, csvLines(...rowsOf(found)))
    })
    area.get(`/live/${name}.xlsx`, async (request, reply) => {
      const found = await settledOf(request, isWhole)
      return sendXlsx(reply, { file: found.file, sheet }, ...rowsOf(found))
    })
  }
}

type Requested = { settled: Settled; ref: DayRef }
type Content = [Column[], AsyncIterable<Cell[]>]
type Around = { organizationName: string; format: Format; nowMs: number }

/** The end-of-day sheet: what a day or all days took, by hour or day, payment method and item, to be printed. */
function sheetView(settled: Settled, { organizationName, format, nowMs }: Around): Html {
  const { event, day } = settled
  const dates = event.days.map(({ date }) => date).toSorted()
  const back = `/live?eventId=${event.eventId}${day === undefined ? '' : `&day=${day.dayId}`}`
  return html`<p class="crumb"><a href="${back}">Live page</a></p>
<div class="heading">
<div><p class="faint"><bdi>${organizationName}</bdi></p>
<h1><bdi>${event.name}</bdi></h1>
<p class="big">${dayName(event, day?.dayId, format.date) ?? format.dates(dates.at(0) ?? '', dates.at(-1) ?? '')}</p>
<p class="faint">${stateOf(settled, format)}<span class="on-paper"> Printed <span id="printed" data-clock="${nowMs + offsetIn(event.timeZone)(nowMs)}">${format.time(nowMs, event.timeZone)}</span>.</span></p></div>
${settleActions(event, day?.dayId, true)}
</div>
${totals(settled, format)}
${periodTable(settled, format)}
${paymentTable(settled, format)}
${itemTable(settled, format)}
<p class="faint">Takings are the totals of paid orders less their refunds, and sold is after refunds. A refund counts for the day and hour of its order. Deposits count as items.</p>
<dl class="on-paper signing"><dt>Counted cash</dt><dd></dd><dt>Difference</dt><dd></dd><dt>Signature</dt><dd></dd></dl>`
}

/** Whether the figures can still change, and up to when they are complete. */
function stateOf({ event, day, asOfMs }: Settled, format: Format): string {
  const upTo = asOfMs === null ? 'Not counted yet' : `Counted up to ${format.time(asOfMs, event.timeZone)}`
  const isOpen = (day === undefined ? event.days : [day]).some(({ closedAt }) => closedAt === null)
  const which = day === undefined ? 'A day' : 'The day'
  return `${isOpen ? `${which} is still open: its figures will change. ` : ''}${upTo} (${event.timeZone}).`
}

function totals({ day, kpis, all }: Settled, { whole, money }: Format): Html {
  const refunds = counted(all.refundedOrders, 'order', whole)
  return html`<section class="card"><h2>Totals</h2>
<table class="sheet"><caption class="hidden">Totals of ${day === undefined ? 'all days' : 'the day'}</caption><tbody>
<tr><th scope="row">Orders</th><td class="number">${whole(kpis.totalOrders)}</td></tr>
<tr><th scope="row">Items sold</th><td class="number">${whole(kpis.totalItemsSold)}</td></tr>
<tr><th scope="row">Total before refunds</th><td class="number">${money(all.total)}</td></tr>
<tr><th scope="row">Refunded <span class="faint">(${refunds})</span></th><td class="number">${money(-all.refunded)}</td></tr>
<tr class="sum"><th scope="row">Takings</th><td class="number">${money(kpis.totalSales)}</td></tr>
</tbody></table></section>`
}
