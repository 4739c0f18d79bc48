import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test.for([
  { value: '=1+1', line: `"'=1+1"` },
  { value: 'Acqua;=1+1;', line: `"Acqua;'=1+1;"` },
  { value: 'Acqua; @SUM(A1)', line: `"Acqua;' @SUM(A1)"` },
  { value: 'Acqua;"=1&"', line: `"Acqua;'""=1&"""` },
  { value: 'Acqua\n-2', line: `"Acqua\n'-2"` },
  { value: 'Fritto misto - 1/2; Acqua', line: '"Fritto misto - 1/2; Acqua"' },
])('$value begins no cell with a formula', ({ value, line }) => {
  expect(csvLine([value])).toBe(`${line}\r\n`)
})
