import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { sessionOf } from '../signIn/guard.ts'
import { readUsage } from './read.ts'
import { unknownUsage, usageView } from './view.ts'

export function usagePages(area: FastifyInstance, deps: AdminDeps): void {
  area.get('/usage', async (request, reply) => {
    const usage = await readUsage(deps, sessionOf(request))
    const body = usage === undefined ? unknownUsage : usageView(usage, formatOf(request))
    return sendPage(request, reply, { title: 'Usage', section: 'usage', body })
  })
}
