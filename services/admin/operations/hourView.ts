import { bars } from '../views/bars.ts'
import { type Format, moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { columnMs, type Minutes, minutesOf, type Sample } from './lastHour.ts'

/** What this process saw in the last hour, as three small charts. */
export function hourView(samples: readonly Sample[], format: Format): Html {
  const since = samples[0]?.atMs
  if (since === undefined || samples.length < 2) return html``
  const minutes = minutesOf(samples, Date.now())
  const all = minutes.reduce((sum, { deadLetters }) => sum + (deadLetters ?? 0), 0)
  return html`<section class="card"><h2>Last hour</h2>
<div class="curves">
${curve('Records read a minute', 'readPerMinute', minutes, format)}
${curve('Lag (records)', 'lag', minutes, format)}
${curve('New dead letters', 'deadLetters', minutes, format, `${format.whole(all)} in all`)}
</div>
<p class="faint">A bar is two minutes. This process looks every 30 s, and has done so since ${moment(since)}.</p></section>`
}

function curve(
  name: string,
  of: keyof Minutes,
  minutes: Minutes[],
  { whole }: Format,
  sentence?: string,
): Html {
  const known = minutes.flatMap(column => column[of] ?? [])
  const most = Math.max(0, ...known)
  const text = (count: number | null | undefined) => (count == null ? 'unknown' : whole(count))
  const said = sentence ?? `${text(minutes.at(-1)?.[of])} now, ${whole(most)} at most`
  const columns = minutes.map((column, index) => {
    const count = column[of]
    const ago = ((minutes.length - index) * columnMs) / 60_000
    return {
      title: `${ago} to ${ago - columnMs / 60_000} min ago: ${text(count)}`,
      parts: count === null ? [] : [{ count, kind: of === 'deadLetters' ? 'refused' : 'answered' }],
    }
  })
  return html`<div><h3>${name}</h3>${bars(columns, { label: `${name}: ${said}`, most })}
<p class="faint ends"><span>1 h ago</span><span>${said}</span></p></div>`
}
