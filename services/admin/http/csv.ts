import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * Where a cell may begin: at the start of a value, and after a semicolon or a line break in it. Where the comma is the
 * decimal sign, Excel separates cells at semicolons.
 */
const formula = /^(?=[ "]*[=+\-@\t\r\n])|(?<=[;\r\n])(?=[ "\t]*[=+\-@])/g

/**
 * A line of CSV (RFC 4180). Apostrophes keep spreadsheets from running a value, or a part of it, as a formula (OWASP,
 * CSV Injection).
 */
export const csvLine = (values: string[]): string =>
  `${values.map(value => `"${value.replace(formula, "'").replaceAll('"', '""')}"`).join(',')}\r\n`

/** Without it, Excel takes UTF-8 for the encoding of the country. */
const byteOrderMark = '\ufeff'

/** Sends lines as a file to save, as they come. */
export const sendCsv = (reply: FastifyReply, fileName: string, lines: AsyncIterable<string>): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="${fileName}.csv"`)
    .header('Cache-Control', 'no-store')
    .send(Readable.from(marked(lines)))

async function* marked(lines: AsyncIterable<string>) {
  yield byteOrderMark
  yield* lines
}
