/** A row's part of the screen's height: its smallest text, half of it, is at least 2 %. */
const parts = { upright: { least: 0.042, most: 0.075 }, wide: { least: 0.058, most: 0.1 } }
/** The text of a name as part of its row (screens/portions.css). */
const textOfRow = 0.56
/** Rows for fewer would leave no page. */
const fewestRows = 2

/**
 * How many rows and columns a page has: the largest rows with which everything fits on one page and no name is cut. If
 * there are none, the smallest ones, which take several pages; a name that is cut there too does not make rows smaller.
 * `nameEms` and `numberEms` are the widths of all names and of the widest numbers, in the size of their text.
 */
export function gridFor(items, { width, height, screenHeight, isUpright, nameEms, numberEms }) {
  const part = isUpright ? parts.upright : parts.wide
  const fewest = Math.max(fewestRows, Math.ceil(height / (screenHeight * part.most)))
  const largest = Math.max(fewest, Math.floor(height / (screenHeight * part.least)))
  const columnCounts = isUpright ? [1] : [1, 2]
  const emOf = rows => (textOfRow * height) / rows
  const most = width / columnCounts.length / emOf(largest) - numberEms
  const nameEm = Math.max(0, ...nameEms.filter(ems => ems <= most))
  for (let rows = fewest; rows <= largest; rows++)
    for (const columns of columnCounts) {
      const needed = (nameEm + numberEms) * emOf(rows)
      if (needed <= width / columns && pagesOf(items, { rows, columns }).length <= 1) return { rows, columns }
    }
  return { rows: largest, columns: columnCounts[columnCounts.length - 1] }
}

/**
 * Parts items, which are sorted by category, into pages of columns of rows: `{ category }`, which stands above its items
 * in each column, or `{ item }`. No category stands at the foot of a column.
 */
export function pagesOf(items, { rows, columns }) {
  const filled = []
  const hasCategories = items.some(({ category }) => category !== '')
  let column
  let category
  const begin = () => {
    column = []
    filled.push(column)
    category = undefined
  }
  for (const item of items) {
    const isNew = hasCategories && item.category !== category
    if (column === undefined || column.length + (isNew ? 2 : 1) > rows) begin()
    if (hasCategories && item.category !== category) column.push({ category: item.category || 'Other' })
    category = item.category
    column.push({ item })
  }
  return Array.from({ length: Math.ceil(filled.length / columns) }, (_, page) =>
    filled.slice(page * columns, (page + 1) * columns),
  )
}
