import { withPauses } from './evening.js'
import uPlot from './uplot/uPlot.esm.js'

/** Draws orders by hour as bars into an element; call `show` whenever they change. */
export function openHoursChart(element) {
  let chart
  let evening = []
  /** The current value of a colour: a canvas does not resolve `light-dark()`. */
  const colour = name => {
    element.style.color = `var(${name})`
    const { color } = getComputedStyle(element)
    element.style.removeProperty('color')
    return color
  }
  const sizeOf = () => ({ width: element.clientWidth, height: element.clientHeight })

  const draw = () => {
    chart?.destroy()
    const axis = {
      stroke: colour('--faint'),
      font: '13px system-ui, sans-serif',
      grid: { show: false },
      ticks: { show: false },
    }
    const options = {
      ...sizeOf(),
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: () => [-0.6, evening.length - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(4, most * 1.1)] },
      },
      axes: [
        {
          ...axis,
          splits: () => evening.map((_, index) => index),
          values: (_, splits) => splits.map(index => `${evening[index]?.hour ?? ''}`.padStart(2, '0')),
          space: 26,
          size: 30,
        },
        {
          ...axis,
          size: 48,
          grid: { show: true, stroke: colour('--line'), width: 1 },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
        },
      ],
      series: [
        {},
        {
          fill: colour('--accent'),
          width: 0,
          points: { show: false },
          paths: uPlot.paths.bars({ size: [0.72, 90], radius: 0.12 }),
        },
      ],
    }
    chart = new uPlot(options, dataOf(), element)
  }
  const dataOf = () => [evening.map((_, index) => index), evening.map(({ orderCount }) => orderCount)]

  new ResizeObserver(() => chart?.setSize(sizeOf())).observe(element)
  document.addEventListener('theme', draw)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)

  return {
    show(hours) {
      evening = withPauses(hours)
      if (chart === undefined) draw()
      else chart.setData(dataOf())
    },
  }
}
