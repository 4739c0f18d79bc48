import { raw } from 'hono/html'
import { renderSVG } from 'uqr'
import { copied } from '../views/copy.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'

type Made = { name: string; event: string; shown: string; endsAt: number; link: string }

/** Addresses that lead every device to itself. */
const ownAddress = /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])[:/]/

/** A new link, which is shown only here, as text and as a code for the camera of a screen or of a phone. */
export function madeView({ name, event, shown, endsAt, link }: Made): Html {
  return html`<p class="crumb"><a href="/screens">Screen links</a></p>
<h1><bdi>${name}</bdi></h1>
<section class="card token" data-page="/screens">
<p class="warning" role="alert"><strong>Open this link once on the screen that shows <bdi>${event}</bdi>.</strong> It will not be shown again after you leave this page.</p>
<dl class="facts"><dt>Shows</dt><dd>${shown}</dd><dt>Ends</dt><dd>${moment(endsAt)}</dd></dl>
${copied('Link', link)}
<p class="hidden" role="status" id="copied"></p>
<div class="qr" role="img" aria-label="QR code with the link">${raw(renderSVG(link, { border: 4 }))}</div>
<p class="faint">The code holds the same link: whoever scans it sees the screen.</p>
${ownAddress.test(link) ? html`<p class="warning">The link works on this computer only. For another one, open this area under an address that it can reach, and make a link there.</p>` : ''}
<p><a class="button primary" href="/screens">Done</a></p>
</section>`
}
