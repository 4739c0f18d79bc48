import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { clientFile, clientPackage } from './clientPackage.ts'
import { once } from './once.ts'

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
