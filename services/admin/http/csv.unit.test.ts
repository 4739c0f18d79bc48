import { expect, test } from 'vitest'
import { count, moneyCell } from './cells.ts'
import { csvLine } from './csv.ts'

test.for([
  { value: '=1+1', line: `"'=1+1"` },
  { value: 'Acqua;=1+1;', line: `"Acqua;'=1+1;"` },
  { value: 'Acqua; @SUM(A1)', line: `"Acqua;' @SUM(A1)"` },
  { value: 'Acqua;"=1&"', line: `"Acqua;'""=1&"""` },
  { value: 'Acqua\n-2', line: `"Acqua\n'-2"` },
  { value: '＝1+1', line: `"'＝1+1"` },
  { value: 'Acqua;＋1', line: `"Acqua;'＋1"` },
  { value: '＠SUM(A1)', line: `"'＠SUM(A1)"` },
  { value: 'Fritto misto - 1/2; Acqua', line: '"Fritto misto - 1/2; Acqua"' },
])('$value begins no cell with a formula', ({ value, line }) => {
  expect(csvLine([value])).toBe(`${line}\r\n`)
})

test('a number below zero stays a number, with a plain minus; zero has none', () => {
  expect(csvLine([count(-3), moneyCell(-6), count(-0), moneyCell(-0), '-3'])).toBe(
    `"-3","-6.00","0","0.00","'-3"\r\n`,
  )
})
