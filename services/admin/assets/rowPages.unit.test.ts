import { expect, test } from 'vitest'
// @ts-expect-error a plain script of the browser
import { gridFor, pagesOf } from './rowPages.js'

type Line = { category?: string; item?: { name: string } }
const menu = (...categories: [string, number][]) =>
  categories.flatMap(([category, count]) =>
    Array.from({ length: count }, (_, index) => ({ category, name: `${category}${index}` })),
  )
/** Pages as texts: a category in capitals above its items. */
const read = (items: object[], grid: { rows: number; columns: number }) =>
  (pagesOf(items, grid) as Line[][][]).map(page =>
    page.map(column => column.map(({ category, item }) => category?.toUpperCase() ?? item?.name).join(' ')),
  )

test('a category stands above its items, and again on top of the next column', () => {
  expect(read(menu(['a', 3], ['b', 2]), { rows: 3, columns: 2 })).toEqual([['A a0 a1', 'A a2'], ['B b0 b1']])
})

test('no category stands alone at the foot of a column', () => {
  expect(read(menu(['a', 1], ['b', 1]), { rows: 3, columns: 2 })).toEqual([['A a0', 'B b0']])
})

test('a menu without categories has rows of items only, and items without one come under Other', () => {
  expect(read(menu(['', 2]), { rows: 3, columns: 1 })).toEqual([['0 1']])
  expect(read(menu(['a', 1], ['', 1]), { rows: 4, columns: 1 })).toEqual([['A a0 OTHER 0']])
})

test('every item is on exactly one page, whatever their number', () => {
  for (let count = 0; count < 60; count++) {
    const items = menu(['a', count], ['b', count % 7])
    const pages = pagesOf(items, { rows: 6, columns: 2 }) as Line[][][]
    expect(pages.flat(2).flatMap(({ item }) => item ?? [])).toEqual(items)
    for (const column of pages.flat()) expect(column.length).toBeLessThanOrEqual(6)
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(2)
  }
})

const screen = { width: 1840, height: 860, screenHeight: 1080, isUpright: false, nameEms: [8], numberEms: 4 }

test('rows are as large as everything fits on one page', () => {
  expect(gridFor(menu(['a', 5]), screen)).toEqual({ rows: 8, columns: 1 })
  expect(gridFor(menu(['a', 15]), screen)).toEqual({ rows: 9, columns: 2 })
})

test('rows are smaller if a name would be cut', () => {
  expect(gridFor(menu(['a', 15]), { ...screen, nameEms: [14] }).rows).toBeGreaterThan(9)
})

test('a name for which no row has room does not make the others small', () => {
  expect(gridFor(menu(['a', 5]), { ...screen, nameEms: [8, 100] })).toEqual({ rows: 8, columns: 1 })
})

test('what does not fit on one page has the smallest rows, whose text is 2 % of the height or more', () => {
  for (const isUpright of [true, false]) {
    const { rows } = gridFor(menu(['a', 200]), { ...screen, isUpright })
    expect((screen.height / rows) * 0.5).toBeGreaterThanOrEqual(screen.screenHeight * 0.02)
  }
})
