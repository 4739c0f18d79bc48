import { readFile } from 'node:fs/promises'
import { isCursor } from '@tally/dead-letters'
import { timeout } from '@tally/platform'
import type { FastifyInstance } from 'fastify'
import { raw } from 'hono/html'
import { marked } from 'marked'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { badForm } from '../http/problem.ts'
import { platformSessionOf } from '../signIn/guard.ts'
import { counted, type Format } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { readParts, versionsWith } from './parts.ts'
import { readHeldBack, readShards, readStoredState } from './read.ts'
import { readDeadLettersPage, replayPages } from './replay.ts'
import { operationsView } from './view.ts'

/** How long the page waits for its dead letters, which are read from Kafka. */
const deadLettersTimeoutMs = 5_000

const runbook = new URL('../../../docs/runbook.md', import.meta.url)

/**
 * The operations page of the platform team. It covers all organizations, so other administrators get a 404. While a
 * server does not answer, it shows what the others have.
 */
export function operationsPages(area: FastifyInstance, deps: AdminDeps): void {
  replayPages(area, deps)

  area.get<{ Querystring: { replayed?: string; refused?: string; before?: string } }>(
    '/operations',
    async (request, reply) => {
      platformSessionOf(request)
      const { before } = request.query
      if (before !== undefined && !isCursor(before)) throw badForm()
      const [parts, shards, deadLetters, heldBack, stored] = await Promise.all([
        readParts(deps),
        readShards(deps),
        timeout(deadLettersTimeoutMs, readDeadLettersPage(deps, before)).catch(() => undefined),
        readHeldBack(deps),
        readStoredState(deps),
      ])
      const versions = versionsWith(stored?.schema)
      const format = formatOf(request)
      const notice = noticeOf(request.query, format)
      return sendPage(request, reply, {
        title: 'Operations',
        notice,
        script: 'operations.js',
        body: operationsView(
          { parts, shards, samples: deps.lastHour(), deadLetters, heldBack, stored, versions },
          { format, refreshes: before === undefined },
        ),
      })
    },
  )

  area.get('/operations/runbook', async (request, reply) => {
    platformSessionOf(request)
    return sendPage(request, reply, { title: 'Runbook', body: await runbookView() })
  })
}

/** The runbook with GitHub's anchors; what it links to in other documents, which the area does not have, is text. */
async function runbookView(): Promise<Html> {
  const markdown = (await readFile(runbook, 'utf8')).replaceAll(/\[([^\]]+)\]\((?!#)[^)]+\)/g, '$1')
  const idOf = (title: string) => title.toLowerCase().replaceAll(' ', '-')
  const page = await marked.parse(markdown)
  const named = page.replaceAll(/(?<=<h\d)>([^<]+)/g, (end, title) => ` id="${idOf(title)}"${end}`)
  return html`<p class="crumb"><a href="/operations">Operations</a></p>
<section class="card runbook">${raw(named)}</section>`
}

/** The result of a replay, read from its redirect. */
function noticeOf(
  { replayed = '', refused = '' }: { replayed?: string; refused?: string },
  { whole }: Format,
): string | undefined {
  const isCount = (text: string): boolean => /^\d{1,9}$/.test(text)
  if (!isCount(replayed)) return undefined
  const sent = `${counted(Number(replayed), 'dead letter', whole)} replayed. A record that fails again comes back under a new id.`
  if (!isCount(refused)) return sent
  return `${sent} ${counted(Number(refused), 'dead letter', whole)} cannot be replayed: the value is too large, or no longer in its topic. Run tally dead-letters replay to see which.`
}
