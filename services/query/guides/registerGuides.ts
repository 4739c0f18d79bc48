import { type ProblemType, problemTypes } from '@tally/contract'
import type { FastifyInstance } from 'fastify'
import { type Guide, llmsText, readGuides, readRecipes } from './guides.ts'
import { page, pagePolicy } from './page.ts'

/**
 * Registers the guides under `/docs/guide` (as pages, and with `.md` as Markdown) with the files of their recipes,
 * `/llms.txt`, and the help page of each problem type under `/problems/`, which is the same page as in the guides.
 */
export function registerGuides(app: FastifyInstance): void {
  const guides = readGuides()
  for (const guide of guides) {
    sendPage(app, guide.path, guide)
    sendText(app, `${guide.path}.md`, 'text/markdown', guide.markdown)
  }
  for (const type of Object.keys(problemTypes) as ProblemType[]) {
    const guide = guides.find(({ path }) => path.endsWith(`/errors/${type}`))
    if (guide === undefined) throw new Error(`docs/guides/errors/${type}.md is missing`)
    sendPage(app, `/problems/${type}`, guide)
  }
  for (const { path, type, text } of readRecipes()) sendText(app, path, type, text)
  sendText(app, '/llms.txt', 'text/plain', llmsText(guides))
}

function sendPage(app: FastifyInstance, path: string, { title, html }: Guide): void {
  const text = page({ title, body: html })
  app.get(path, (_, reply) =>
    reply.type('text/html; charset=utf-8').header('Content-Security-Policy', pagePolicy).send(text),
  )
}

function sendText(app: FastifyInstance, path: string, type: string, text: string): void {
  app.get(path, (_, reply) => reply.type(`${type}; charset=utf-8`).send(text))
}
