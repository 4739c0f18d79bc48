import { draw } from './draw.js'
import { hourName, withPauses } from './evening.js'
import { figuresIn } from './format.js'
import { bar, bestSellers, nothing } from './items.js'
import { createMarks } from './marks.js'
import { h } from './tree.js'

/** A row's part of the screen's height, and its text's: that is at least 2 %, and leaves room for a name. */
const rowOf = { least: 0.034, most: 0.085 }
const textOf = { ofRow: 0.62, most: 0.038 }

/** The screen with money: figures on top, orders by hour and best sellers below. */
export function createMoney(locale) {
  const by = id => document.getElementById(id)
  const format = figuresIn(locale)
  const { money, whole } = format
  const mark = createMarks()
  let shown

  const figures = { sales: money, orders: whole, items: whole, average: money }
  function layOut() {
    if (shown === undefined) return
    for (const [id, write] of Object.entries(figures)) {
      const text = write(shown[id])
      draw(by(id), [text])
      mark(id, text, by(id))
      shrink(by(id))
    }
    fill(by('hours'), rows => hourRows(shown, format).slice(-rows))
    fill(by('best'), rows => bestSellers(shown, format, { best: 'portions' }).slice(0, rows))
  }
  // Their room changes with the screen, and with what is said above them.
  const observer = new ResizeObserver(layOut)
  for (const id of ['hours', 'best']) observer.observe(by(id))

  return {
    show(day) {
      shown = day
      layOut()
    },
    heard() {},
    beat() {},
  }
}

function hourRows({ hours }, { whole }) {
  if (hours.length === 0) return [nothing('li')]
  const counts = new Map(hours.map(({ hour, orderCount }) => [hour, orderCount]))
  const busiest = Math.max(1, ...counts.values())
  return withPauses([...counts.keys()]).map(hour => {
    const count = counts.get(hour) || 0
    return h('li', {}, h('span', {}, hourName(hour)), bar(count / busiest), h('strong', {}, whole(count)))
  })
}

/** Fills a list with the rows that fit, as large as there is room. */
function fill(list, rowsOf) {
  const rows = rowsOf(Math.max(1, Math.floor(list.clientHeight / (innerHeight * rowOf.least))))
  const high = Math.min(list.clientHeight / rows.length, innerHeight * rowOf.most)
  list.style.setProperty('--row', `${high}px`)
  list.style.setProperty('--type', `${Math.min(high * textOf.ofRow, innerHeight * textOf.most)}px`)
  draw(list, rows)
  const counts = [...list.querySelectorAll('strong')].map(({ textContent }) => textContent.length)
  list.style.setProperty('--digits', String(Math.max(3, ...counts)))
}

/** Makes a number that is wider than its box as small as it has to be. */
function shrink(number) {
  const box = number.parentElement
  box.style.fontSize = ''
  const width = number.getBoundingClientRect().width
  if (width <= box.clientWidth) return
  box.style.fontSize = `${(parseFloat(getComputedStyle(box).fontSize) * box.clientWidth) / width}px`
}
