import { centsOf } from './evening.js'
import { h } from './tree.js'

export const nothing = (name, text = 'Nothing sold yet') => h(name, { class: 'faint' }, text)

/** A name in the direction of its script: what is cut of one that is too long is its end. */
export const named = (name, ...more) => h('span', { class: 'name', dir: 'auto' }, name, ...more)

/** The share of the most as a bar; attributes of SVG, because the page's policy allows no style attributes. */
export const bar = share =>
  h(
    'svg',
    { class: 'bar', 'aria-hidden': 'true' },
    h('rect', { width: `${(share * 100).toFixed(1)}%`, height: '100%' }),
  )

/** A row: a name, what is faint, the figure, and as a bar its share of the most; `key` tells it from others. */
export const row = (name, more, main, share, key) =>
  h(
    'li',
    { 'data-key': key },
    named(name),
    h('span', { class: 'faint' }, more),
    h('strong', {}, main),
    share === undefined ? '' : bar(share),
  )

/** The best sellers of a day by `chosen.best`, sold or takings. */
export function bestSellers({ best, bestByTakings, dayId }, format, chosen) {
  const isMoney = chosen.best === 'takings'
  const rows = isMoney ? bestByTakings : best
  if (rows.length === 0) return [nothing('li')]
  const figureOf = ({ quantity, revenue }) => (isMoney ? revenue : quantity)
  const most = Math.max(1, ...rows.map(figureOf))
  return rows.map(item => itemRow(item, format, isMoney, linkOf(chosen, dayId, item), figureOf(item) / most))
}

export const returnedItems = ({ returned, dayId }, format, chosen) =>
  returned.map(item => itemRow(item, format, false, linkOf(chosen, dayId, item)))

function itemRow({ menuItemId, quantity, revenue }, format, isMoney, link, share) {
  const [figure, money] = [format.whole(quantity), format.money(revenue)]
  return row(link, ...(isMoney ? [`${figure} sold`, money] : [money, figure]), share, `item ${menuItemId}`)
}

const compares = {
  menu: () => 0,
  sold: (one, other) => other.quantitySold - one.quantitySold,
  takings: (one, other) => other.revenue - one.revenue,
}

/**
 * All items of a day by category, with subtotals, sorted by `chosen.sort` (menu, sold or takings); while a name is
 * searched, those that match, without their categories.
 */
export function itemCounts({ counts, dayId }, format, chosen) {
  const sought = plain(chosen.query.trim())
  const listed = sought === '' ? counts : counts.filter(item => matches(item, sought))
  if (listed.length === 0)
    return [h('p', { class: 'faint' }, sought === '' ? 'Nothing sold yet' : 'No item has this name')]
  const compare = compares[chosen.sort]
  const list = items =>
    h(
      'ul',
      { class: 'plain counts' },
      ...[...items].sort(compare).map(item => countRow(item, format, linkOf(chosen, dayId, item))),
    )
  const groups = groupsOf(listed).sort(compare)
  if (sought !== '' || groups.length === 1) return [list(listed)]
  return groups.map(({ category, items, ...sums }) => {
    const attributes = { 'data-key': `group ${category}`, open: chosen.isNarrow ? undefined : '' }
    const name = named(category === '' ? 'Other' : category)
    return h('details', attributes, h('summary', {}, name, soldOf(sums, format)), list(items))
  })
}

/** What was taken for an item or a category, and how many were sold. */
const soldOf = ({ quantitySold, revenue }, format) => [
  h('span', { class: 'faint' }, format.money(revenue)),
  h('strong', {}, format.whole(quantitySold)),
]

/** An item's name, which leads to its evening if there is an address. */
function linkOf({ address }, dayId, { menuItemId, itemName }) {
  if (address === undefined) return itemName
  return h('a', { href: `${address.replace('/live?', '/live/item?')}${dayId}&item=${menuItemId}` }, itemName)
}

const matches = ({ itemName, categoryName }, sought) => plain(`${itemName}\n${categoryName}`).includes(sought)

/** Without marks, however a till encodes them: `tiramisu` finds `Tiramisù`. */
const plain = text => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** The categories in the order of the menu, with their sums; what the menu puts into none is last. */
function groupsOf(items) {
  const byCategory = new Map()
  for (const item of items)
    byCategory.set(item.categoryName, [...(byCategory.get(item.categoryName) || []), item])
  const last = byCategory.get('')
  byCategory.delete('')
  if (last) byCategory.set('', last)
  return [...byCategory].map(([category, items]) => ({
    category,
    items,
    quantitySold: items.reduce((sum, { quantitySold }) => sum + quantitySold, 0),
    revenue: items.reduce((cents, { revenue }) => cents + centsOf(revenue), 0) / 100,
  }))
}

function countRow({ menuItemId, quantityRefunded, ...sold }, format, link) {
  const refunded =
    quantityRefunded > 0
      ? h('small', { class: 'faint', dir: 'ltr' }, ` ${format.whole(quantityRefunded)} refunded`)
      : ''
  return h('li', { 'data-key': `item ${menuItemId}` }, named(link, refunded), soldOf(sold, format))
}
