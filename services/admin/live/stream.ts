import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import type { DayRef } from './day.ts'
import { openScreenLimits, type Viewer } from './limits.ts'
import { serverSentEvent } from './serverSentEvent.ts'

/** How often a stream checks its session: after it ends, its screens end within this time. */
const checkEveryMs = 15_000

/** Who watches; `mayContinue` is asked every 15 s, and ends the stream when it says no. */
type StreamViewer = Viewer & { mayContinue: () => Promise<boolean> }

export type Streams = {
  open(request: FastifyRequest, reply: FastifyReply, ref: DayRef, viewer: StreamViewer): Promise<FastifyReply>
  close(): void
}

/** Sends days to browsers as server-sent events: `day` with the figures, `beat` with their watermark. */
export function openStreams(deps: AdminDeps): Streams {
  const { live, metrics, logger } = deps
  const open = new Set<PassThrough>()
  const limits = openScreenLimits(deps)

  return {
    async open(request, reply, ref, viewer) {
      const place = await limits.take(viewer)
      if (place === undefined)
        throw new PageProblem(429, 'Too many live screens', 'Close some, or try again later.', 10)
      const stream = new PassThrough()
      open.add(stream)
      metrics.screens.set(open.size)
      // A browser that reads slowly gets only the latest figures when it is ready again.
      let late: Buffer | undefined
      const unwatch = live.watch(ref, {
        onDay(events) {
          late = stream.writableNeedDrain ? events : undefined
          if (late === undefined) stream.write(events)
        },
        onBeat(event) {
          if (!stream.writableNeedDrain) stream.write(event)
        },
      })
      stream.on('drain', () => {
        const events = late
        late = undefined
        if (events !== undefined) stream.write(events)
      })
      const check = setInterval(async () => {
        place.keep()
        // While Postgres does not answer, the screen goes on.
        const isOver = !(await viewer.mayContinue().catch(() => true))
        if (!isOver || stream.destroyed) return
        stream.write(serverSentEvent('signed-out', '{}'))
        stream.end()
      }, checkEveryMs)
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
      return reply.type('text/event-stream').header('X-Accel-Buffering', 'no').send(stream)
    },
    close() {
      for (const stream of open) stream.end()
    },
  }
}
