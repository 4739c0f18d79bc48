import { topicNames } from '@tally/kafka'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { csvLines, sendCsv } from '../http/csv.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { notFound } from '../http/problem.ts'
import { sendXlsx } from '../http/xlsx.ts'
import { pickDay } from '../live/pick.ts'
import { sessionOf } from '../signIn/guard.ts'
import { fileName } from './names.ts'
import { readSettled } from './read.ts'
import { figureColumns, figureRows, orderColumns, orderRows } from './rows.ts'
import { sheetColumns, sheetRows } from './sheet.ts'
import { sheetView } from './view.ts'

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
        title: `${settled.event.name}, ${settled.day === undefined ? 'all days' : format.date(settled.day.date)}`,
        section: 'live',
        script: 'print.js',
        body: sheetView(settled, { organizationName, format, nowMs: Date.now() }),
      })
    })

    area.get(`/live/${name}.csv`, async (request, reply) => {
      const { settled, file } = await settledOf(request, isWhole)
      return sendCsv(reply, `${file}-figures`, csvLines(figureColumns, figureRows(settled)))
    })

    area.get(`/live/${name}.xlsx`, async (request, reply) => {
      const { settled, file } = await settledOf(request, isWhole)
      return sendXlsx(reply, `${file}-figures`, figureColumns, figureRows(settled))
    })

    area.get(`/live/${sheet}.xlsx`, async (request, reply) => {
      const { settled, file } = await settledOf(request, isWhole)
      return sendXlsx(reply, `${file}-sheet`, sheetColumns(settled), sheetRows(settled))
    })
  }

  area.get('/live/orders.csv', async (request, reply) => {
    const { settled, ref, file } = await settledOf(request)
    const rows = orderRows(db, settled, ref)
    return sendCsv(reply, `${file}-orders`, csvLines(orderColumns(settled), rows))
  })

  area.get('/live/orders.xlsx', async (request, reply) => {
    const { settled, ref, file } = await settledOf(request)
    const rows = orderRows(db, settled, ref)
    return sendXlsx(reply, `${file}-orders`, orderColumns(settled), rows)
  })
}
