import { topicNames } from '@tally/kafka'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { csvLines, sendCsv } from '../http/csv.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sendXlsx } from '../http/xlsx.ts'
import { pickDay } from '../live/pick.ts'
import { readSettledDay } from './read.ts'
import { figureColumns, figureRows, orderColumns, orderRows } from './rows.ts'
import { sheetColumns, sheetRows } from './sheet.ts'
import { dayView } from './view.ts'

/** What an organizer settles a day by: the end-of-day sheet, its figures and its orders, as CSV and for Excel. */
export function dayPages(area: FastifyInstance, { db, topicPrefix }: AdminDeps): void {
  const { events, orders, refunds } = topicNames(topicPrefix)
  const topics = [events, orders, refunds]

  /** The requested day, with its figures; 404 if it is not the organization's. */
  async function settledOf(request: FastifyRequest) {
    const { event, dayId } = await pickDay(db, request)
    const ref = { eventId: event.eventId, dayId: dayId ?? 0 }
    const settled = await readSettledDay(db, topics, ref)
    if (settled === undefined) throw notFound()
    return { settled, ref }
  }

  area.get('/live/day', async (request, reply) => {
    const { settled } = await settledOf(request)
    return sendPage(request, reply, {
      title: `${settled.event.name}, ${formatOf(request).date(settled.day.date)}`,
      section: 'live',
      script: 'print.js',
      body: dayView(settled, formatOf(request)),
    })
  })

  area.get('/live/day.csv', async (request, reply) => {
    const { settled } = await settledOf(request)
    return sendCsv(reply, `figures-${settled.day.date}`, csvLines(figureColumns, figureRows(settled)))
  })

  area.get('/live/orders.csv', async (request, reply) => {
    const { settled, ref } = await settledOf(request)
    const rows = orderRows(db, settled, ref)
    return sendCsv(reply, `orders-${settled.day.date}`, csvLines(orderColumns(settled), rows))
  })

  area.get('/live/sheet.xlsx', async (request, reply) => {
    const { settled } = await settledOf(request)
    return sendXlsx(reply, `sheet-${settled.day.date}`, sheetColumns(settled), sheetRows(settled))
  })

  area.get('/live/day.xlsx', async (request, reply) => {
    const { settled } = await settledOf(request)
    return sendXlsx(reply, `figures-${settled.day.date}`, figureColumns, figureRows(settled))
  })

  area.get('/live/orders.xlsx', async (request, reply) => {
    const { settled, ref } = await settledOf(request)
    const rows = orderRows(db, settled, ref)
    return sendXlsx(reply, `orders-${settled.day.date}`, orderColumns(settled), rows)
  })
}
