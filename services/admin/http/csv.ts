import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Cell, Column } from './cells.ts'

/**
 * Where a cell may begin: at the start of a value, and after a semicolon or a line break in it. Where the comma is the
 * decimal sign, Excel separates cells at semicolons. In East Asian locales, full-width signs begin formulas, too.
 */
const formula = /^(?=[ "]*[=+\-@＝＋－＠\t\r\n])|(?<=[;\r\n])(?=[ "\t]*[=+\-@＝＋－＠])/g

/**
 * A line of CSV (RFC 4180). Apostrophes keep spreadsheets from running a text, or a part of it, as a formula (OWASP,
 * CSV Injection); a number below zero has none, or it would be a text.
 */
export const csvLine = (cells: Cell[]): string => `${cells.map(cell => `"${textOf(cell)}"`).join(',')}\r\n`

const textOf = (cell: Cell): string =>
  typeof cell === 'string' ? cell.replace(formula, "'").replaceAll('"', '""') : cell.text

/** The lines of a file, the names of its columns first. */
export async function* csvLines(columns: Column[], rows: AsyncIterable<Cell[]>): AsyncIterable<string> {
  yield csvLine(columns.map(({ name }) => name))
  for await (const cells of rows) yield csvLine(cells)
}

/** Without it, Excel takes UTF-8 for the encoding of the country. */
const byteOrderMark = '\ufeff'

/** Sends lines as a file to save, as they come. */
export const sendCsv = (reply: FastifyReply, fileName: string, lines: AsyncIterable<string>): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="${fileName}.csv"`)
    // By bytes: a line of the largest order has 100 kB, and a stream of objects reads 16 ahead.
    .send(Readable.from(marked(lines), { objectMode: false }))

async function* marked(lines: AsyncIterable<string>) {
  yield byteOrderMark
  yield* lines
}
