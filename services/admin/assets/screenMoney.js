import { element, put } from './elements.js'
import { hourName, withPauses } from './evening.js'
import { figuresIn } from './format.js'

/** A row's part of the screen's height, and its text's: that is at least 2 %, and leaves room for a name. */
const rowOf = { least: 0.034, most: 0.085 }
const textOf = { ofRow: 0.62, most: 0.038 }

/** The screen with money: figures on top, orders by hour and best sellers below. */
export function openMoney(locale) {
  const by = id => document.getElementById(id)
  const { money, whole } = figuresIn(locale)
  let shown

  const figures = { sales: money, orders: whole, items: whole, average: money }
  function layOut() {
    if (shown === undefined) return
    for (const [id, format] of Object.entries(figures)) {
      put(by(id), format(shown[id]))
      shrink(by(id))
    }
    const counts = new Map(shown.hours.map(({ hour, orderCount }) => [hour, orderCount]))
    const hours = withPauses([...counts.keys()])
    const busiest = Math.max(1, ...counts.values())
    fill(by('hours'), hours, -1, hour => [
      element('span', 'name', hourName(hour)),
      bar((counts.get(hour) || 0) / busiest),
      element('strong', '', whole(counts.get(hour) || 0)),
    ])
    const sold = Math.max(1, ...shown.best.map(({ quantity }) => quantity))
    fill(by('best'), shown.best, 1, item => [
      element('span', 'name', item.name),
      element('span', 'revenue', money(item.revenue)),
      element('strong', '', whole(item.quantity)),
      bar(item.quantity / sold),
    ])
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

function bar(share) {
  const made = element('span', 'bar')
  made.style.setProperty('--share', String(share))
  made.setAttribute('aria-hidden', 'true')
  return made
}

/** Fills a list with the rows that fit, the first of them or (`from` -1) the last. */
function fill(list, all, from, cellsOf) {
  const fitting = Math.max(1, Math.floor(list.clientHeight / (innerHeight * rowOf.least)))
  const rows = from === 1 ? all.slice(0, fitting) : all.slice(-fitting)
  const high = Math.min(list.clientHeight / Math.max(1, rows.length), innerHeight * rowOf.most)
  list.style.setProperty('--row', `${high}px`)
  list.style.setProperty('--type', `${Math.min(high * textOf.ofRow, innerHeight * textOf.most)}px`)
  if (rows.length === 0) list.replaceChildren(element('li', 'none', 'Nothing sold yet'))
  else list.replaceChildren(...rows.map(row => element('li', '', ...cellsOf(row))))
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
