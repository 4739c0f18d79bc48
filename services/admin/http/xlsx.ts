import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyReply } from 'fastify'
import type { Cell, Column, Kind } from './cells.ts'

/** Excel shows them as the language of its user does, such as `1.234,50` and `04.09.2026 21:31:07`. */
const formats: Record<Kind, string> = {
  text: '@',
  count: '#,##0',
  money: '#,##0.00',
  time: 'yyyy-mm-dd hh:mm:ss',
}
const widths: Record<Kind, number> = { text: 18, count: 10, money: 12, time: 20 }
type Rows = AsyncIterable<Cell[]>

/** Excel refuses a file with a longer text in a cell. */
const longestText = 32_767
/** What XML cannot hold, not even escaped: control characters and halves of a pair. */
const notInXml = /(?![\t\n\r])\p{Cc}|\p{Cs}|\p{NChar}/gu
/** Excel reads `_x000D_` as the character of that number. */
const escapeLike = /_(?=x[\da-f]{4}_)/gi

/**
 * The bytes of a workbook with one sheet, as its rows come. Text stays text, whatever it begins with: ids keep their
 * zeros, and nothing is a formula (docs/decisions/0023-xlsx-by-hucre.md).
 */
export async function xlsxOf(name: string, columns: Column[], rows: Rows): Promise<Readable> {
  // Its 30 ms are not for the start of the process.
  const { writeXlsxStream } = await import('hucre/xlsx')
  const bytes = writeXlsxStream(valuesOf(columns, rows), {
    name,
    columns: columns.map(({ kind }) => ({ numFmt: formats[kind], width: widths[kind] })),
    freezePane: { rows: 1 },
  })
  return Readable.fromWeb(bytes as ReadableStream)
}

async function* valuesOf(columns: Column[], rows: Rows) {
  yield columns.map(({ name }) => textOf(name))
  for await (const cells of rows)
    yield cells.map(cell => (typeof cell !== 'string' ? cell.value : cell === '' ? null : textOf(cell)))
}

const textOf = (text: string): string =>
  text.replace(notInXml, '\ufffd').slice(0, longestText).replace(escapeLike, '_x005F_')

/** Sends rows as a file to save, as they come; `sheet` is the end of its name, and the name of its one sheet. */
export const sendXlsx = async (
  reply: FastifyReply,
  { file, sheet }: { file: string; sheet: string },
  columns: Column[],
  rows: Rows,
): Promise<FastifyReply> =>
  reply
    .type('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet')
    .header('Content-Disposition', `attachment; filename="${file}-${sheet}.xlsx"`)
    .send(await xlsxOf(sheet, columns, rows))
