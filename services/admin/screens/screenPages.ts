import { offsetIn } from '@tally/contract'
import { type ListedEvent, readEventsOf, resolveDay } from '@tally/figures'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { AdminDeps } from '../deps.ts'
import { parseOr400, rowNumber } from '../http/forms.ts'
import { sendPage } from '../http/page.ts'
import { PageProblem } from '../http/problem.ts'
import type { Showing, Streams } from '../live/stream.ts'
import { readCookie, setScreenCookie } from '../signIn/cookies.ts'
import { type Html, html } from '../views/html.ts'
import { compositions } from './compositions.ts'
import { findScreen, type ScreenLink } from './store.ts'

const params = z.object({ screenId: rowNumber })

const ended = () =>
  new PageProblem(
    404,
    'This screen link has ended',
    'Create a new one in the administration area, under Screens.',
  )

/**
 * What a screen link shows: the figures of its event that were chosen for it, and nothing else. The link moves its
 * token into a cookie, so that the screen's address bar does not show it, and leads to the link's own address: several
 * links in one browser do not get into each other's way.
 */
export function screenPages(app: FastifyInstance, { db }: AdminDeps, streams: Streams): void {
  app.get<{ Params: { token: string } }>('/screen/:token', (request, reply) =>
    enter(request, reply, request.params.token),
  )

  /** The address of all links until 0.3.0. */
  app.get('/screen', (request, reply) => enter(request, reply, readCookie(request, 'screen')))

  app.get('/screen/:screenId(^\\d+$)', async (request, reply) => {
    const shown = await shownTo(request)
    if (shown === undefined) throw ended()
    const { event, screen, dayId } = shown
    const nowMs = Date.now()
    const clock = { nowMs, offsetMs: offsetIn(event.timeZone)(nowMs) }
    return sendPage(request, reply, {
      title: event.name,
      script: 'screen.js',
      style: 'screen.css',
      body: screenView(screen, event.name, dayId !== undefined, clock),
    })
  })

  app.get('/screen/:screenId(^\\d+$)/stream', async (request, reply) => {
    const shown = await shownTo(request)
    if (shown === undefined) throw ended()
    const { screenId, organizationId } = shown.screen
    // When the next day opens, the screen goes on with that day.
    const shows = () => shownTo(request).then(now => now && showingOf(now))
    const viewer = { organizationId, viewer: `link-${screenId}`, shows } as const
    return streams.open(request, reply, showingOf(shown), viewer)
  })

  async function enter(request: FastifyRequest, reply: FastifyReply, token: string | undefined) {
    const screen = token === undefined ? undefined : await findScreen(db, token)
    if (token === undefined || screen === undefined) throw ended()
    const { screenId, endsAt } = screen
    const maxAge = Math.ceil((endsAt - Date.now()) / 1_000)
    setScreenCookie(request, reply, { screenId, token, maxAge })
    return reply.redirect(`/screen/${screenId}`, 303)
  }

  /** The link of the address with its event and day; undefined if the link does not work in this browser. */
  async function shownTo(request: FastifyRequest): Promise<Shown | undefined> {
    const { screenId } = parseOr400(params, request.params)
    const token = readCookie(request, `screen-${screenId}`)
    const screen = token === undefined ? undefined : await findScreen(db, token)
    // The numbers of links begin again in a database that was restored.
    if (screen?.screenId !== screenId) return undefined
    const [event] = await readEventsOf(db, screen.organizationId, screen.eventId)
    return event && { screen, event, dayId: resolveDay(event.days)?.dayId }
  }
}

function showingOf({ screen, event, dayId }: Shown): Showing {
  const area = screen.areaId === null ? {} : { areaId: screen.areaId }
  return { eventId: event.eventId, dayId, ...area, composition: compositions[screen.shows] }
}

type Shown = { screen: ScreenLink; event: ListedEvent; dayId: number | undefined }

/** The clock on the screen, in milliseconds: a screen may have another clock and other time zone data. */
type Clock = { nowMs: number; offsetMs: number }

/** The screen of a link without figures, which its script fills in. Money is in the one with money only. */
function screenView(
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

const portions = html`<div class="totals"><strong class="name" dir="auto" id="area" hidden></strong><p><span><strong id="portions">–</strong> portions</span> <span><strong id="orders">–</strong> orders</span></p>
<p class="note"><span class="recent" id="window"></span> <span id="page"></span></p></div>
<div class="columns" id="columns"></div>`
