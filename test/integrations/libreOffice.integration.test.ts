import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { programPath } from '#infra/install/programs.ts'
import { type Cell, type Column, count, moneyCell, time } from '../../services/admin/http/cells.ts'
import { xlsxOf } from '../../services/admin/http/xlsx.ts'
import { log } from './programs.ts'

/** The files for Excel, opened by LibreOffice in the languages of its users, and written as what they would see. */
const folder = mkdtempSync(join(tmpdir(), 'tally-libreoffice-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const columns: Column[] = [
  { name: 'time (Europe/Rome)', kind: 'time' },
  { name: 'order', kind: 'text' },
  { name: 'table', kind: 'text' },
  { name: 'orders', kind: 'count' },
  { name: 'takings', kind: 'money' },
]
async function* rows(): AsyncIterable<Cell[]> {
  yield [time(Date.UTC(2026, 8, 4, 21, 31, 7)), '20260904000123456', '3-4', count(1_234), moneyCell(-1_234.5)]
  yield [time(Date.UTC(2026, 8, 5, 0, 10)), '=1+1', "=cmd|' /C calc'!A0", count(0), moneyCell(12.5)]
  yield ['', '_x000D_ & <b> "Frittò" 🍕', '1e5', count(-3), moneyCell(0)]
}
let program: string

beforeAll(async () => {
  const soffice = {
    names: ['soffice'],
    debianPackage: 'libreoffice-calc-nogui',
    neededBy: 'the tests of files for Excel',
  }
  program = await programPath(soffice, log)
  writeFileSync(join(folder, 'orders.xlsx'), await buffer(await xlsxOf('orders', columns, rows())))
})

test.for([
  { language: 'it-IT', thousand: '1.234', amount: '-1.234,50', half: '12,50' },
  { language: 'de-DE', thousand: '1.234', amount: '-1.234,50', half: '12,50' },
  { language: 'en-GB', thousand: '1,234', amount: '-1,234.50', half: '12.50' },
])('LibreOffice ($language) shows texts as texts, money as money, and runs no formula', async given => {
  const { language, thousand, amount, half } = given
  const profile = join(folder, language)
  const setting = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"><item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>${language}</value></prop></item></oor:items>`
  await run('mkdir', ['-p', join(profile, 'user')])
  writeFileSync(join(profile, 'user/registrymodifications.xcu'), setting)
  // Tabs between cells, UTF-8, as shown; the last number has formulas in place of their results.
  for (const formulas of ['false', 'true'])
    await run(program, [
      `-env:UserInstallation=file://${profile}`,
      '--headless',
      '--convert-to',
      `csv:Text - txt - csv (StarCalc):9,,76,1,,0,false,true,true,${formulas}`,
      '--outdir',
      join(profile, formulas),
      join(folder, 'orders.xlsx'),
    ])
  const shown = (formulas: string) =>
    readFileSync(join(profile, formulas, 'orders.csv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => line.split('\t'))
  expect(shown('false')).toEqual([
    ['time (Europe/Rome)', 'order', 'table', 'orders', 'takings'],
    ['2026-09-04 21:31:07', '20260904000123456', '3-4', thousand, amount],
    ['2026-09-05 00:10:00', '=1+1', "=cmd|' /C calc'!A0", '0', half],
    ['', expect.stringContaining('_x000D_ & <b> '), '1e5', '-3', expect.stringMatching(/^0[.,]00$/)],
  ])
  expect(shown('true').map(([, order]) => order)).toEqual(shown('false').map(([, order]) => order))
})
