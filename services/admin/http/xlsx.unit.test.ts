import { buffer } from 'node:stream/consumers'
import { readXlsx } from 'hucre/xlsx'
import { expect, test } from 'vitest'
import { type Cell, type Column, count, moneyCell, time } from './cells.ts'
import { xlsxOf } from './xlsx.ts'

const columns: Column[] = [
  { name: 'order', kind: 'text' },
  { name: 'orders', kind: 'count' },
  { name: 'takings', kind: 'money' },
  { name: 'time (Europe/Rome)', kind: 'time' },
]

async function* rowsOf(...rows: Cell[][]) {
  yield* rows
}

async function read(...rows: Cell[][]) {
  const { sheets } = await readXlsx(await buffer(await xlsxOf('orders', columns, rowsOf(...rows))))
  return sheets[0]
}

test('texts stay texts, numbers are numbers, and a time is what the clocks of the event showed', async () => {
  const at = Date.UTC(2026, 8, 4, 21, 31, 7)
  const sheet = await read(
    ['20260904000123456', count(1_234), moneyCell(-6.5), time(at)],
    ['3-4', count(-0), moneyCell(-0), ''],
  )
  expect(sheet?.name).toBe('orders')
  expect(sheet?.rows[0]).toEqual(['order', 'orders', 'takings', 'time (Europe/Rome)'])
  expect(sheet?.rows[1]?.slice(0, 3)).toEqual(['20260904000123456', 1_234, -6.5])
  expect(sheet?.rows[1]?.[3]).toEqual(new Date(at))
  expect(sheet?.rows[2]?.slice(0, 3)).toEqual(['3-4', 0, 0])
  expect(Object.is(sheet?.rows[2]?.[1], -0)).toBe(false)
})

test.for([
  '=1+1',
  '@SUM(A1)',
  '+1',
  "=cmd|' /C calc'!A0",
  ' =1+1',
  '00123',
  '1e5',
  'TRUE',
  '<b>&amp;</b>',
  '_x000D_',
])('a text is what it was, and no formula: %s', async text => {
  const sheet = await read([text])
  expect(sheet?.rows[1]?.[0]).toBe(text)
  expect([...(sheet?.cells?.values() ?? [])].filter(({ formula }) => formula !== undefined)).toEqual([])
})

test('what XML or Excel cannot hold does not break the file', async () => {
  const sheet = await read(['a\u0000b\ud83d\u001f', count(1)], ['x'.repeat(40_000)])
  expect(sheet?.rows[1]?.slice(0, 2)).toEqual(['a\ufffdb\ufffd\ufffd', 1])
  expect(String(sheet?.rows[2]?.[0]).length).toBe(32_767)
})
