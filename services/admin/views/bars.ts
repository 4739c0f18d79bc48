import { type Html, html } from './html.ts'

/** A column of a chart: what it says when pointed at, and its parts from the bottom up. */
export type Column = { title: string; parts: { count: number; kind: string }[] }

/** In the chart's units: its width and height, where bars stand, and how high the highest is. */
const [chartWidth, chartHeight, baseline, barHeight] = [720, 124, 120, 116]

/** Columns side by side, the highest of `most`; with a dashed line at `limit`, if there is one. */
export function bars(
  columns: Column[],
  { label, most, limit }: { label: string; most: number; limit?: number | undefined },
): Html {
  const scale = barHeight / Math.max(1, most, limit ?? 0)
  const width = chartWidth / columns.length
  const bar = (x: number, { kind, count }: Column['parts'][number], below: number) =>
    html`<rect class="${kind}" x="${x.toFixed(1)}" y="${(baseline - (below + count) * scale).toFixed(1)}" width="${(width - 4).toFixed(1)}" height="${(count * scale).toFixed(1)}"></rect>`
  const drawn = columns.map(({ title, parts }, index) => {
    let below = 0
    return html`<g><title>${title}</title>${parts.map(part => {
      const made = bar(index * width + 2, part, below)
      below += part.count
      return made
    })}</g>`
  })
  return html`<svg class="bars" viewBox="0 0 ${chartWidth} ${chartHeight}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn}${limit === undefined ? '' : limitLine(limit, scale)}<line x1="0" x2="${chartWidth}" y1="121" y2="121"></line></svg>`
}

function limitLine(limit: number, scale: number): Html {
  const y = (baseline - limit * scale).toFixed(1)
  return html`<line class="limit" x1="0" x2="${chartWidth}" y1="${y}" y2="${y}"></line>`
}
