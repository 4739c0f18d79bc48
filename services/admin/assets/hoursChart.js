import { centsOf, hourName, withPauses } from './evening.js'
import { h } from './tree.js'

/** An evening with few hours has bars of this width. */
const leastColumns = 6
/** Of this many letters in a row, a phone has room for each text; of twice as many, a screen. */
const roomy = 40

/** What `orderCount` counts, if not the orders. */
const unitOf = ({ unit = ['order', 'orders'] }) => unit

/** A day in few words; `opened` tells two of one date apart. */
export const shortName = ({ date, opened }, format) => format.weekday(date) + opened

const nothing = { orderCount: 0, revenue: 0 }
const at = share => `${(share * 100).toFixed(2)}%`

/**
 * The bars of an evening, with those of the day before as outlines, by `chosen.hours` (takings or orders); and the
 * figures of `chosen.hour`, if one is.
 */
export function hoursChart(day, format, chosen) {
  const columns = columnsOf(day)
  const isMoney = chosen.hours === 'takings'
  const figureOf = ({ orderCount, revenue }) => (isMoney ? centsOf(revenue) / 100 : orderCount)
  const values = columns.flatMap(({ today, before }) => [figureOf(today), figureOf(before)])
  const least = Math.min(0, ...values)
  // A day without sales has its line at the foot too.
  const most = Math.max(0, ...values) || (least === 0 ? 1 : 0)
  const range = most - least
  const count = Math.max(columns.length, leastColumns)
  const width = 1 / count
  const written = columns.map(({ today }) => format.whole(Math.round(figureOf(today))))
  const roomFor = texts =>
    Math.min(3, Math.ceil((count * Math.max(0, ...texts.map(text => text.length))) / roomy))
  const yOf = value => (most - value) / range

  const bar = (value, className, x) =>
    h('rect', {
      class: className,
      x: at(x + width * 0.12),
      y: at(yOf(Math.max(value, 0))),
      width: at(width * 0.76),
      height: at(Math.abs(value) / range),
    })
  const bars = columns.map(({ hour, today, before }, index) => {
    const x = index * width
    const [value, valueBefore] = [today, before].map(figureOf)
    const middle = at(x + width / 2)
    // What is below zero is written above the line: at the foot are the hours.
    const above = { x: middle, y: at(yOf(Math.max(value, 0))), dy: '-0.45em' }
    // Away from the outline above it, if the bar has room.
    const isInside = valueBefore > value && value > 0.12 * range
    const isWithin = value * valueBefore > 0 && Math.abs(valueBefore) < Math.abs(value)
    return h(
      'g',
      { 'data-hour': String(hour), class: hour === chosen.hour ? 'chosen' : '' },
      h('rect', { class: 'column', x: at(x), y: '0', width: at(width), height: '100%' }),
      bar(value, 'today', x),
      day.before === null ? '' : bar(valueBefore, isWithin ? 'before within' : 'before', x),
      h('text', { class: isInside ? 'value inside' : 'value', ...above }, value === 0 ? '' : written[index]),
      h('text', { class: `hour ${placeOf(index)}`, x: middle, y: '100%', dy: '1.55em' }, hourName(hour)),
    )
  })
  const zero = at(yOf(0))
  const line = h('line', { x1: '0', x2: '100%', y1: zero, y2: zero })
  const room = `names-${roomFor([hourName(0)])} values-${roomFor(written)}`
  const pointedAt = columns.find(({ hour }) => hour === chosen.hour)
  return [
    h('p', { class: 'readout' }, ...readout(day, format, pointedAt)),
    h('svg', { class: `hours ${room}` }, ...bars, line),
  ]
}

/** Every fourth hour, every second, or any other: by that, narrow screens leave names out. */
const placeOf = index => (index % 4 === 0 ? 'fourth' : index % 2 === 0 ? 'second' : 'other')

function columnsOf({ evening, hours, before }) {
  const find = (of, hour) => of.find(bucket => bucket.hour === hour) || nothing
  return withPauses(evening).map(hour => ({
    hour,
    today: find(hours, hour),
    before: find(before === null ? [] : before.hours, hour),
  }))
}

function readout(day, format, column) {
  const [one, more] = unitOf(day)
  const days = [{ of: 'today', day }, ...(day.before === null ? [] : [{ of: 'before', day: day.before }])]
  const named = days
    .filter(({ day }) => day.date !== '')
    .map(({ of, day }) => {
      const { revenue, orderCount } = column === undefined ? nothing : column[of]
      const orders = orderCount === 1 ? one : more
      const figures =
        column === undefined ? '' : ` ${format.money(revenue)}, ${format.whole(orderCount)} ${orders}`
      const text = h('span', {}, shortName(day, format) + figures)
      return h('span', { class: 'of' }, h('i', { class: of }), text)
    })
  return column === undefined ? named : [h('strong', {}, hourName(column.hour)), ...named]
}

/** The same as a table, for screen readers. */
export function hoursTable(day, format) {
  const { hours, before } = day
  const [, counted] = unitOf(day)
  const head = counted[0].toUpperCase() + counted.slice(1)
  const hasBefore = before !== null && before.hours.length > 0
  const heads = ['Hour', head, 'Takings']
  if (hasBefore) heads.push(...[head, 'Takings'].map(name => `${name}, ${shortName(before, format)}`))
  const listed = hasBefore ? [...hours, ...before.hours] : hours
  const cells = ({ orderCount, revenue }) =>
    [format.whole(orderCount), format.money(revenue)].map(text => h('td', { class: 'number' }, text))
  const names = heads.map((name, index) => h('th', { scope: 'col', class: index > 0 ? 'number' : '' }, name))
  const rows = columnsOf(day)
    .filter(({ hour }) => listed.some(bucket => bucket.hour === hour))
    .map(({ hour, today, before }) => {
      const name = h('th', { scope: 'row' }, hourName(hour))
      return h('tr', {}, name, ...cells(today), ...(hasBefore ? cells(before) : []))
    })
  return [
    h('caption', {}, `${head} and takings by hour${day.date === '' ? '' : `, ${shortName(day, format)}`}`),
    h('thead', {}, h('tr', {}, ...names)),
    h('tbody', { id: 'hours-rows' }, ...rows),
  ]
}
