import { type ProblemType, problemTypes } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { listGuides, llmsText, readRecipes } from './guides.ts'
import { type Guide, guideBody } from './layout.ts'
import { sendPage } from './page.ts'
import { registerFiles } from './registerFiles.ts'

/**
 * Registers the guides under `/docs/guide` (as pages, and with `.md` as Markdown) with the files of their recipes
 * and others to fetch, `/llms.txt`, and the help page of each problem type under `/problems/`, the same as in the
 * guides.
 */
export function registerGuides(app: FastifyInstance): void {
  const guides = listGuides()
  for (const { path, read } of guides) {
    showGuide(app, path, read)
    sendText(app, `${path}.md`, 'text/markdown', () => read().markdown)
  }
  for (const type of Object.keys(problemTypes) as ProblemType[]) {
    const guide = guides.find(({ path }) => path.endsWith(`/errors/${type}`))
    if (guide === undefined) throw new Error(`docs/guides/errors/${type}.md is missing`)
    showGuide(app, `/problems/${type}`, guide.read)
  }
  registerFiles(app)
  for (const { path, type, text } of readRecipes()) sendText(app, path, type, () => text)
  sendText(app, '/llms.txt', 'text/plain', () => llmsText(guides.map(({ read }) => read())))
}

function showGuide(app: FastifyInstance, path: string, read: () => Guide): void {
  app.get(path, (_, reply) => {
    const guide = read()
    return sendPage(reply, { title: guide.title, body: guideBody(guide), layout: 'guide' })
  })
}

function sendText(app: FastifyInstance, path: string, type: string, read: () => string): void {
  app.get(path, (_, reply) => reply.type(`${type}; charset=utf-8`).send(read()))
}
