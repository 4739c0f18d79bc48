import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { requireRecent } from '../signIn/guard.ts'
import { createPages } from './createPages.ts'
import { endPages } from './endPages.ts'
import { listPages } from './listPages.ts'

/** The section of API keys: list and detail; new key, revoke and rotate, which need a recent sign-in. */
export function keyPages(area: FastifyInstance, deps: AdminDeps): void {
  listPages(area, deps)
  area.register(async recent => {
    recent.addHook('preHandler', requireRecent)
    for (const pages of [createPages, endPages]) pages(recent, deps)
  })
}
