import { draw } from './draw.js'
import { figuresIn } from './format.js'
import { named, nothing } from './items.js'
import { createMarks } from './marks.js'
import { createRecent } from './recent.js'
import { gridFor, pagesOf } from './rowPages.js'
import { h } from './tree.js'

const turnMs = 12_000
/** Between name, change and count, in the size of the text. */
const gapEms = 1.6

/** A line of a column: a category, or an item with what was sold of it lately. */
const lineOf = ({ category, item }, recent, whole) => {
  if (item === undefined) return h('li', { class: 'category' }, named(category))
  const { id, name, sold } = item
  const lately = recent.of(id, sold)
  return h(
    'li',
    { class: 'item', 'data-key': `item ${id}` },
    named(name),
    h('span', { class: 'recent' }, lately === 0 ? '' : (lately > 0 ? '+' : '') + whole(lately)),
    h('strong', {}, whole(sold)),
  )
}

/** The screen without money: how many of each item, by category, in rows as large as fit; further pages take turns. */
export function createPortions(locale, clock) {
  const by = id => document.getElementById(id)
  const columns = by('columns')
  const { whole } = figuresIn(locale)
  const widthOf = createRuler(columns)
  const recent = createRecent()
  const mark = createMarks()
  let shown
  /** The counts as they were received: figures are shown later than that. */
  let counts
  let dayId
  const turning = { pages: [], page: 0 }

  const windowText = () => {
    const since = recent.since()
    return since === null ? '+ = sold in the last 10 minutes' : `+ = sold since ${clock.timeOf(since)}`
  }

  function turnTo(next) {
    const { pages } = turning
    turning.page = pages.length === 0 ? 0 : next % pages.length
    const lists = (pages[turning.page] || []).map(lines =>
      h('ul', { class: 'column' }, ...lines.map(line => lineOf(line, recent, whole))),
    )
    draw(columns, lists.length === 0 ? [nothing('p')] : lists)
    // Those of other pages too: a page that turns marks nothing.
    for (const { id, sold } of shown.items)
      mark(id, sold, columns.querySelector(`[data-key="item ${id}"] strong`))
    by('page').textContent = pages.length > 1 ? `Page ${turning.page + 1} of ${pages.length}` : ''
    by('hold').hidden = pages.length < 2
    by('window').textContent = shown.items.some(({ id, sold }) => recent.of(id, sold) !== 0)
      ? windowText()
      : ''
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
      nameEms: items.map(({ name }) => widthOf(name)),
      numberEms: gapEms + 2 * count,
    })
    columns.style.setProperty('--row', `${columns.clientHeight / grid.rows}px`)
    columns.style.setProperty('--columns', String(grid.columns))
    columns.style.setProperty('--count', `${count}em`)
    turning.pages = pagesOf(items, grid)
    turnTo(turning.page)
  }
  // Its room changes with the screen, and with what is said above it.
  new ResizeObserver(layOut).observe(columns)

  const isHeld = createHold(by('hold'))
  setInterval(() => {
    if (turning.pages.length > 1 && !isHeld()) turnTo(turning.page + 1)
  }, turnMs)

  return {
    show(day) {
      shown = day
      Object.assign(by('area'), { hidden: day.area === null, textContent: day.area })
      for (const id of ['portions', 'orders']) {
        draw(by(id), [whole(day[id])])
        by(id).nextSibling.data = ` ${day[id] === 1 ? id.slice(0, -1) : id}`
        mark(id, day[id], by(id))
      }
      layOut()
    },
    heard(day) {
      if (day.dayId !== dayId) recent.forget()
      dayId = day.dayId
      counts = new Map(day.items.map(({ id, sold }) => [id, sold]))
    },
    beat({ nowMs }) {
      if (counts !== undefined && recent.sample(nowMs, counts) && shown !== undefined) turnTo(turning.page)
    },
  }
}

/** A button that is pressed and released; the result says whether it is pressed. */
function createHold(button) {
  const isHeld = () => button.getAttribute('aria-pressed') === 'true'
  button.addEventListener('click', () => button.setAttribute('aria-pressed', String(!isHeld())))
  return isHeld
}

/** Measures texts as they are written in an element, in the size of its text; what was measured is kept. */
function createRuler(target) {
  const context = document.createElement('canvas').getContext('2d')
  context.font = `600 100px ${getComputedStyle(target).fontFamily}`
  const widths = new Map()
  return text => {
    if (!widths.has(text)) widths.set(text, context.measureText(text).width / 100)
    return widths.get(text)
  }
}
