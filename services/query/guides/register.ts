import { readFileSync } from 'node:fs'
import { openApiDocument } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { clientFile, clientPackage } from './clientPackage.ts'
import { listGuides, llmsText, readRecipes } from './guides.ts'
import { type Guide, guideBody, once, pageOf, sendPage } from './layout.ts'
import { referenceBody } from './referenceBody.ts'

/**
 * Registers the routes that need no token and do not count against the rate limit: the OpenAPI document, the reference
 * page made from it, and the guides. `contact` is whom the document says clients may ask.
 *
 * The document and the page are made when they are first asked for: they take 0.1 s, a sixth of what a process takes to
 * be ready.
 */
export function registerReference(app: FastifyInstance, contact: string | undefined): void {
  const json = once(() => Buffer.from(JSON.stringify(openApiDocument(contact))))
  const page = once(() =>
    pageOf({ title: 'Reference', body: referenceBody(JSON.parse(json().toString())), layout: 'reference' }),
  )
  app.get('/api/v1/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(json()))
  for (const path of ['/docs', '/docs/']) app.get(path, (_, reply) => sendPage(reply, page()))
  registerGuides(app)
}

/**
 * Registers the guides under `/docs/guide` (as pages, and with `.md` as Markdown) with the files of their recipes
 * and others to fetch, `/llms.txt`, and the help page of each problem type under `/problems/`, the same as in the
 * guides.
 */
function registerGuides(app: FastifyInstance): void {
  const guides = listGuides()
  for (const { path, read } of guides) {
    showGuide(app, path, read)
    sendText(app, `${path}.md`, 'text/markdown', () => read().markdown)
    if (path.includes('/errors/')) showGuide(app, path.replace('/docs/guide/errors', '/problems'), read)
  }
  registerFiles(app)
  for (const { path, type, text } of readRecipes()) sendText(app, path, type, () => text)
  sendText(app, '/llms.txt', 'text/plain', () => llmsText(guides.map(({ read }) => read())))
}

function showGuide(app: FastifyInstance, path: string, read: () => Guide): void {
  const page = once(() => {
    const guide = read()
    return pageOf({ title: guide.title, body: guideBody(guide), layout: 'guide' })
  })
  app.get(path, (_, reply) => sendPage(reply, page()))
}

function sendText(app: FastifyInstance, path: string, type: string, read: () => string): void {
  app.get(path, (_, reply) => reply.type(`${type}; charset=utf-8`).send(read()))
}

const guides = new URL('../../../docs/guides/', import.meta.url)

/** The dashboard asks this process only, and loads nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const types = { html: 'text/html', css: 'text/css', js: 'text/javascript', py: 'text/x-python' }

/**
 * Registers what the guides tell their readers to open or to fetch, from the only copy that there is: the dashboard,
 * the client as one file and as a package, and the polling loop, which is a block of a guide. Each is read when it is
 * first asked for.
 */
export function registerFiles(app: FastifyInstance): void {
  const serve = (path: string, type: keyof typeof types, read: () => string) => {
    const text = once(read)
    app.get(path, (_, reply) =>
      reply.type(`${types[type]}; charset=utf-8`).header('Content-Security-Policy', policy).send(text()),
    )
  }
  const guide = (file: string) => readFileSync(new URL(file, guides), 'utf8')

  app.get('/docs/dashboard', (_, reply) => reply.redirect('dashboard/'))
  for (const file of ['', 'index.html'])
    serve(`/docs/dashboard/${file}`, 'html', () => guide('dashboard/index.html'))
  for (const type of ['css', 'js'] as const)
    serve(`/docs/dashboard/dashboard.${type}`, type, () => guide(`dashboard/dashboard.${type}`))

  for (const path of ['/docs/client.js', '/docs/dashboard/client.js']) serve(path, 'js', () => clientFile())
  const archive = once(clientPackage)
  app.get('/docs/client.tgz', (_, reply) => reply.type('application/gzip').send(archive()))
  serve('/docs/tally.py', 'py', () => /^```python[^\n]*\n(.*?)^```$/ms.exec(guide('polling.md'))?.[1] ?? '')
}
