import type { FastifyInstance } from 'fastify'
import { sendPage } from '../http/page.ts'
import type { AdminParts } from '../parts.ts'
import { sessionOf } from '../signIn/guard.ts'
import { readUsage } from './read.ts'
import { unknownUsage, usageView } from './view.ts'

export function usagePages(area: FastifyInstance, parts: AdminParts): void {
  area.get('/usage', async (request, reply) => {
    const usage = await readUsage(parts, sessionOf(request))
    const body = usage === undefined ? unknownUsage : usageView(usage)
    return sendPage(request, reply, { title: 'Usage', section: 'usage', body })
  })
}
