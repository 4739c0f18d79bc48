import { type Html, html } from '../views/html.ts'
import type { ScreenLink } from './store.ts'

/** The clock on the screen, in milliseconds: a screen may have another clock and other time zone data. */
type Clock = { nowMs: number; offsetMs: number }

/** The screen of a link without figures, which its script fills in. Money is in the one with money only. */
export function screenView(
  { screenId, eventId, shows }: ScreenLink,
  event: string,
  hasDay: boolean,
  { nowMs, offsetMs }: Clock,
): Html {
  return html`<div class="screen" id="screen" data-stream="/screen/${screenId}/stream" data-shows="${shows}" data-event="${eventId}"${hasDay ? '' : html` data-waits`} data-now-ms="${nowMs}" data-offset-ms="${offsetMs}">
<div class="head">
<h1 class="name" dir="auto" id="event">${event}</h1>
<p class="status" id="status"><span class="dot"></span><span id="status-text" role="status">${hasDay ? 'Connecting …' : 'Waiting for the first day'}</span> <span id="as-of" hidden></span><span id="date"></span></p>
<p class="clock"><span id="today"></span> <strong id="clock"></strong></p>
</div>
<noscript><p class="warning">The screen needs JavaScript.</p></noscript>
${shows === 'money' ? money : portions}
<p class="buttons"><button type="button" id="hold" aria-pressed="false" hidden>Stay on this page</button><button type="button" id="full-screen" hidden>Full screen</button></p>
</div>`
}

const figure = (id: string, name: string, isMain = false): Html =>
  html`<div class="figure${isMain ? ' main' : ''}"><dt>${name}</dt><dd><span id="${id}">–</span></dd></div>`

const money = html`<dl class="figures">
${figure('sales', 'Takings', true)}${figure('orders', 'Orders')}${figure('items', 'Items sold')}${figure('average', 'Average order')}
</dl>
<div class="parts">
<section class="part" aria-labelledby="hours-title"><h2 id="hours-title">Orders by hour</h2>
<ol class="hours" id="hours"></ol></section>
<section class="part" aria-labelledby="best-title"><h2 id="best-title">Best sellers</h2>
<ol class="sellers" id="best"></ol></section>
</div>`

const portions = html`<div class="totals"><p><strong class="name" dir="auto" id="area" hidden></strong> <span><strong id="portions">–</strong> portions</span> <span><strong id="orders">–</strong> orders</span></p>
<p class="note"><span class="recent" id="window"></span> <span id="page"></span></p></div>
<div class="columns" id="columns"></div>`
