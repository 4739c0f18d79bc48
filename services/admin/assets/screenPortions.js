import { element, put } from './elements.js'
import { figuresIn } from './format.js'
import { openRecent } from './recent.js'
import { gridFor, pagesOf } from './rowPages.js'

const turnMs = 12_000
/** Between name, change and count, in the size of the text. */
const gapEms = 1.6

/** The rows of items, each made once, and the lines of a column: a category or an item. */
function openRows(whole, recent) {
  const rows = new Map()
  const signed = count => (count > 0 ? `+${whole(count)}` : count < 0 ? whole(count) : '')
  const rowOf = ({ id }) => {
    const made = rows.get(id) || {
      name: element('span', 'name'),
      recent: element('span', 'recent'),
      count: element('strong'),
    }
    if (made.row === undefined) made.row = element('li', 'item', made.name, made.recent, made.count)
    rows.set(id, made)
    return made
  }
  const fill = item => {
    const { row, name, recent: change, count } = rowOf(item)
    name.textContent = item.name
    change.textContent = signed(recent.of(item.id, item.sold))
    put(count, whole(item.sold))
    return row
  }
  const lineOf = ({ category, item }) =>
    item === undefined ? element('li', 'category', category) : fill(item)
  return { fill, lineOf }
}

/** The screen without money: how many of each item, by category, in rows as large as fit; further pages take turns. */
export function openPortions(locale, clock) {
  const by = id => document.getElementById(id)
  const columns = by('columns')
  const { whole } = figuresIn(locale)
  const widthOf = openRuler(columns)
  const recent = openRecent()
  const { fill, lineOf } = openRows(whole, recent)
  let shown
  /** The counts as they were received: figures are shown later than that. */
  let counts
  let dayId
  let pages = []
  let page = 0

  const changed = ({ id, sold }) => recent.of(id, sold) !== 0
  const windowText = () => {
    const since = recent.since()
    return since === null ? '+ in the last 10 minutes' : `+ since ${clock.timeOf(since)}`
  }

  function turnTo(next) {
    page = pages.length === 0 ? 0 : next % pages.length
    const lines = pages[page] || [[]]
    columns.replaceChildren(...lines.map(column => element('ul', 'column', ...column.map(lineOf))))
    if (pages.length === 0) columns.replaceChildren(element('p', 'none', 'Nothing sold yet'))
    by('page').textContent = pages.length > 1 ? `Page ${page + 1} of ${pages.length}` : ''
    by('hold').hidden = pages.length < 2
    by('window').textContent = shown.items.some(changed) ? windowText() : ''
  }

  function layOut() {
    if (shown === undefined) return
    const { items } = shown
    const count = Math.max(0, ...items.map(({ sold }) => widthOf(whole(sold))))
    const grid = gridFor(items, {
      width: columns.clientWidth,
      height: columns.clientHeight,
      screenHeight: innerHeight,
      isUpright: innerHeight > innerWidth,
      nameEms: Math.max(0, ...items.map(({ name }) => widthOf(name))),
      numberEms: gapEms + 2 * count,
    })
    columns.style.setProperty('--row', `${columns.clientHeight / grid.rows}px`)
    columns.style.setProperty('--columns', String(grid.columns))
    columns.style.setProperty('--count', `${count}em`)
    pages = pagesOf(items, grid)
    turnTo(page)
  }
  // Its room changes with the screen, and with what is said above it.
  new ResizeObserver(layOut).observe(columns)

  const hold = by('hold')
  hold.addEventListener('click', () =>
    hold.setAttribute('aria-pressed', String(hold.getAttribute('aria-pressed') !== 'true')),
  )
  setInterval(() => {
    if (pages.length > 1 && hold.getAttribute('aria-pressed') !== 'true') turnTo(page + 1)
  }, turnMs)

  return {
    show(day) {
      shown = day
      by('area').hidden = day.area === null
      by('area').textContent = day.area
      put(by('portions'), whole(day.portions))
      put(by('orders'), whole(day.orders))
      // Those of other pages too: a page that turns marks nothing.
      for (const item of day.items) fill(item)
      layOut()
    },
    heard(day) {
      if (day.dayId !== dayId) recent.forget()
      dayId = day.dayId
      counts = new Map(day.items.map(({ id, sold }) => [id, sold]))
    },
    beat({ nowMs }) {
      if (counts !== undefined && recent.sample(nowMs, counts) && shown !== undefined) turnTo(page)
    },
  }
}

/** Measures texts as they are written in an element, in the size of its text; what was measured is kept. */
function openRuler(target) {
  const context = document.createElement('canvas').getContext('2d')
  context.font = `600 100px ${getComputedStyle(target).fontFamily}`
  const widths = new Map()
  return text => {
    if (!widths.has(text)) widths.set(text, context.measureText(text).width / 100)
    return widths.get(text)
  }
}
