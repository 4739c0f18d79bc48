import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * A line of CSV (RFC 4180). An apostrophe keeps spreadsheets from running a value as a formula (OWASP, CSV Injection).
 */
export const csvLine = (values: string[]): string =>
  `${values.map(value => `"${value.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`).join(',')}\r\n`

/** Sends lines as a file to save, as they come. */
export const sendCsv = (reply: FastifyReply, fileName: string, lines: AsyncIterable<string>): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8')
    .header('Content-Disposition', `attachment; filename="${fileName}.csv"`)
    .header('Cache-Control', 'no-store')
    .send(Readable.from(lines))
