import type { Point } from '../run/row.ts'

const width = 760
const panelHeight = 260
const margin = { left: 80, right: 230, top: 40, bottom: 50 }
const colors = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00']
const panels = [
  { panel: 'rate', title: 'Rate per second', height: 0 },
  { panel: 'latency', title: 'Latency (ms)', height: panelHeight },
] as const

/** A chart (SVG) of rate and latency over the number of orders, which goes in powers of ten; '' without points. */
export function chartOf(points: Point[]): string {
  if (points.length === 0) return ''
  const sizes = points.map(({ orders }) => orders)
  const least = Math.floor(Math.log10(Math.min(...sizes)))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...sizes))))
  const x = (orders: number) =>
    margin.left + ((Math.log10(orders) - least) / (most - least)) * (width - margin.left - margin.right)
  const powers = Array.from({ length: most - least + 1 }, (_, index) => 10 ** (least + index))
  const body = panels.flatMap(({ panel, title, height }) =>
    panelOf({ title, top: height, points: points.filter(point => point.panel === panel), powers, x }),
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${2 * panelHeight}" font-family="sans-serif" font-size="12">`,
    '<title>Rate and latency over the number of orders</title>',
    `<rect width="100%" height="100%" fill="white"/>`,
    ...body,
    '</svg>\n',
  ].join('\n')
}

type Panel = { title: string; top: number; points: Point[]; powers: number[]; x: (orders: number) => number }

function panelOf({ title, top, points, powers, x }: Panel): string[] {
  const from = top + panelHeight - margin.bottom
  const to = top + margin.top
  const highest = roundUp(Math.max(1, ...points.map(({ value }) => value)))
  const y = (value: number) => from - (value / highest) * (from - to)
  const end = width - margin.right
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap(share => {
    const value = share * highest
    return [
      `<line x1="${margin.left}" x2="${end}" y1="${n(y(value))}" y2="${n(y(value))}" stroke="#ddd"/>`,
      text(margin.left - 8, y(value) + 4, value.toLocaleString('en'), 'end'),
    ]
  })
  const ticks = powers.map(power => text(x(power), from + 18, power.toLocaleString('en'), 'middle'))
  const series = [...Map.groupBy(points, point => point.series)].flatMap(([name, own], index) => {
    const color = colors[index % colors.length] ?? 'black'
    const places = own
      .toSorted((one, other) => one.orders - other.orders)
      .map(({ orders, value }) => ({ at: `${n(x(orders))},${n(y(value))}`, x: x(orders), y: y(value) }))
    const legend = to + 10 + index * 18
    return [
      `<polyline points="${places.map(({ at }) => at).join(' ')}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...places.map(place => `<circle cx="${n(place.x)}" cy="${n(place.y)}" r="3.5" fill="${color}"/>`),
      `<rect x="${end + 14}" y="${legend - 9}" width="10" height="10" fill="${color}"/>`,
      text(end + 30, legend, name, 'start'),
    ]
  })
  return [
    text(margin.left, top + 22, title, 'start'),
    ...grid,
    ...ticks,
    text((margin.left + end) / 2, from + 38, 'orders', 'middle'),
    ...series,
  ]
}

const n = (value: number) => String(Math.round(value * 10) / 10)
const text = (x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end') =>
  `<text x="${n(x)}" y="${n(y)}" text-anchor="${anchor}" fill="#333">${words}</text>`

/** The next of 1, 2, 4, 6, 8 and 10 times a power of ten: its quarters are round numbers too. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 6, 8].find(step => step * power >= value) ?? 10) * power
}
