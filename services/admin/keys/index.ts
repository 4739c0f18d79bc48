import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { createPages } from './createPages.ts'
import { endPages } from './endPages.ts'
import { listPages } from './listPages.ts'

/** The section of API keys: list and detail, new key, revoke and rotate. */
export function keyPages(area: FastifyInstance, deps: AdminDeps): void {
  for (const pages of [listPages, createPages, endPages]) pages(area, deps)
}
