import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../signIn/guard.ts'
import { createPlaces } from './places.ts'
import { PageProblem } from './problem.ts'

/**
 * How many files are sent at the same time: one whose client does not read keeps 1 to 3 MB of rows until it ends. The
 * last four are for organizations that have none yet.
 */
const most = { organization: 4, process: 16 }
const last = 4

const tooManyDownloads = () =>
  new PageProblem(
    503,
    'Too many at once',
    'Other files or pages of items are being read. Try again in a moment.',
    5,
  )

/** Bounds how many files (`.csv`, `.xlsx`) and items are read at the same time; more are a 503. */
export function limitDownloads(area: FastifyInstance): void {
  const downloads = createPlaces()
  area.addHook('preHandler', (request, reply, done) => {
    if (!/\.(csv|xlsx)$|\/item$/.test(request.routeOptions.url ?? '') || reply.raw.closed) return done()
    const { organizationId } = sessionOf(request)
    const mostOwn = downloads.of('process') < most.process - last ? most.organization : 1
    const end = downloads.take([
      ['process', most.process],
      [organizationId, mostOwn],
    ])
    if (end === undefined) return done(tooManyDownloads())
    // Also when the client ends the connection.
    reply.raw.once('close', end)
    done()
  })
  // The answer to a HEAD ends at once: fastify would go on and read the whole file, which no longer counts.
  area.addHook('onSend', (request, _, payload, done) => {
    if (request.method === 'HEAD' && payload instanceof Readable) payload.destroy()
    done()
  })
}
