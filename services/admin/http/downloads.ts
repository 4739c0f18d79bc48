import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { sessionOf } from '../signIn/guard.ts'
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
  const downloads = new Downloads()
  area.addHook('preHandler', (request, reply, done) => {
    if (!/\.(csv|xlsx)$|\/item$/.test(request.routeOptions.url ?? '') || reply.raw.closed) return done()
    const { organizationId } = sessionOf(request)
    if (!downloads.begin(organizationId)) return done(tooManyDownloads())
    // Also when the client ends the connection.
    reply.raw.once('close', () => downloads.end(organizationId))
    done()
  })
  // The answer to a HEAD ends at once: fastify would go on and read the whole file, which no longer counts.
  area.addHook('onSend', (request, _, payload, done) => {
    if (request.method === 'HEAD' && payload instanceof Readable) payload.destroy()
    done()
  })
}

class Downloads {
  private readonly running = new Map<string, number>()
  private total = 0

  /** Counts a file that begins; false if it may not begin. */
  begin(organizationId: string): boolean {
    const own = this.running.get(organizationId) ?? 0
    const mostOwn = this.total < most.process - last ? most.organization : 1
    if (own >= mostOwn || this.total >= most.process) return false
    this.running.set(organizationId, own + 1)
    this.total += 1
    return true
  }

  end(organizationId: string): void {
    const own = (this.running.get(organizationId) ?? 0) - 1
    if (own > 0) this.running.set(organizationId, own)
    else this.running.delete(organizationId)
    this.total -= 1
  }
}
