import { assetPath } from '../http/assets.ts'
import type { Session } from '../signIn/sessions.ts'
import { type Html, html } from './html.ts'

/** The content of a page. */
export type Page = {
  title: string
  body: Html
  script?: string
  style?: string
  /** Compressed. Never a page that shows a secret next to something that its reader may have been sent (BREACH). */
  isCompressed?: true
  notice?: string | undefined
  /** Of no section of the navigation. */
  isError?: true
}

/** The sections of the navigation; a page belongs to the first one with whose path its address begins. */
const sections: { path: string; name: string; platformOnly?: true }[] = [
  { path: '/live', name: 'Live' },
  { path: '/screens', name: 'Screens' },
  { path: '/keys', name: 'API keys' },
  { path: '/usage', name: 'Usage' },
  { path: '/audit', name: 'Audit' },
  { path: '/operations', name: 'Operations', platformOnly: true },
  { path: '/account/people', name: 'People' },
  { path: '/account', name: 'Account' },
]

/** For whom a page is made: its scripts write figures and times as in `locale`. */
type Viewer = { session: Session | undefined; locale: string; apiUrl: string; url: string }

/** The whole page around a body, with the navigation if there is a session. */
export function layout(page: Page, { session, locale, apiUrl, url }: Viewer): Html {
  const { title, body, script, style, notice, isError } = page
  const section = isError ? undefined : sections.find(({ path }) => url.startsWith(path))
  return html`<!doctype html>
<html lang="en" data-locale="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Tally</title>
<link rel="icon" href="${assetPath('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetPath('style.css')}">
${style === undefined ? '' : html`<link rel="stylesheet" href="${assetPath(style)}">`}
<script src="${assetPath('page.js')}"></script>
${script === undefined ? '' : html`<script type="module" src="${assetPath(script)}"></script>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${session === undefined ? '' : header(session, section, apiUrl)}
<main id="content" tabindex="-1">
${notice === undefined ? '' : html`<p class="notice" role="status">${notice}</p>`}
${body}
</main>
</body>
</html>
`
}

/** One line: on a narrow screen all but the brand and the organization is in a menu, which needs no script. */
function header(session: Session, current: (typeof sections)[number] | undefined, apiUrl: string): Html {
  const shown = sections.filter(({ platformOnly }) => !platformOnly || session.isPlatform)
  return html`<header class="top">
<a class="brand" href="/live"><img src="${assetPath('icon.svg')}" alt="" width="28" height="28"><span>Tally</span></a>
<span class="organization" dir="auto" title="${session.organizationName}">${session.organizationName}</span>
<button type="button" class="quiet open-menu" popovertarget="menu">Menu</button>
<div class="menu" id="menu" popover>
<nav aria-label="Main">
${shown.map(section => html`<a href="${section.path}"${section === current ? html` aria-current="page"` : ''}>${section.name}</a>`)}
</nav>
<div class="who">
<a href="${apiUrl}/docs/guide" target="_blank" rel="noopener">Guides</a><a href="${apiUrl}/docs" target="_blank" rel="noopener">Reference</a>
<button type="button" class="quiet" id="theme" title="Dark or light" aria-label="Dark or light">◐</button>
<form method="post" action="/sign-out"><button class="quiet">Sign out</button></form>
</div>
</div>
</header>`
}
