import { PassThrough } from 'node:stream'
import type { EventId } from '@tally/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import type { Composition } from './day.ts'
import { createScreenLimits, type Viewer } from './limits.ts'
import { overEvent } from './serverSentEvent.ts'

/** How often a stream checks its session or link: after that ends, its screens end within this time. */
export const checkEveryMs = 15_000

/** What a screen shows now; an event that lists no day yet has none. */
export type Showing = {
  eventId: EventId
  dayId: number | undefined
  areaId?: number | undefined
  composition?: Composition
}
/**
 * Who watches. `shows` is asked every 15 s: if it answers undefined, the page opens itself again; if it answers another
 * day, the page opens its stream again.
 */
type StreamViewer = Viewer & { shows: () => Promise<Showing | undefined> }

export type Streams = {
  open(
    request: FastifyRequest,
    reply: FastifyReply,
    showing: Showing,
    viewer: StreamViewer,
  ): Promise<FastifyReply>
  close(): void
}

/** Sends days to browsers as server-sent events: `day` with the figures, `beat` with their watermark. */
export function openStreams(deps: AdminDeps): Streams {
  const { live, metrics, logger } = deps
  const open = new Set<PassThrough>()
  let isClosed = false
  const limits = createScreenLimits(deps)

  /** Writes a day to a stream; returns the function that ends that. */
  function watch({ eventId, dayId, areaId, composition }: Showing, stream: PassThrough): () => void {
    if (dayId === undefined) return () => {}
    // A browser that reads slowly gets only the latest figures when it is ready again.
    let late: Buffer | undefined
    const unwatch = live.watch(
      { eventId, dayId, areaId },
      {
        onDay(events) {
          late = stream.writableNeedDrain ? events : undefined
          if (late === undefined) stream.write(events)
        },
        onBeat(event) {
          if (!stream.writableNeedDrain) stream.write(event)
        },
      },
      composition,
    )
    stream.on('drain', () => {
      const events = late
      late = undefined
      if (events !== undefined) stream.write(events)
    })
    return unwatch
  }

  return {
    async open(request, reply, showing, viewer) {
      const place = await limits.take(viewer)
      if (place === undefined)
        throw new PageProblem(429, 'Too many live screens', 'Close some, or try again later.', 10)
      const stream = new PassThrough()
      open.add(stream)
      metrics.screens.set(open.size)
      const unwatch = watch(showing, stream)
      const check = setInterval(async () => {
        place.keep()
        // While Postgres does not answer, the screen goes on.
        const now = await viewer.shows().catch(() => showing)
        if (stream.destroyed || (now !== undefined && now.dayId === showing.dayId)) return
        if (now === undefined) stream.write(overEvent)
        stream.end()
      }, deps.screenCheckMs)
      stream.on('close', () => {
        clearInterval(check)
        unwatch()
        place.release()
        open.delete(stream)
        metrics.screens.set(open.size)
      })
      stream.on('error', error => logger.debug({ err: error }, 'the connection of a live screen broke'))
      if (request.raw.destroyed) stream.destroy()
      request.raw.on('close', () => stream.destroy())
      // A browser that goes away shuts its sending half first, and the server would go on answering.
      request.raw.socket.once('end', () => stream.destroy())
      stream.write('retry: 1000\n\n')
      if (isClosed) stream.end()
      return reply.type('text/event-stream').header('X-Accel-Buffering', 'no').send(stream)
    },
    close() {
      isClosed = true
      for (const stream of open) stream.end()
    },
  }
}
