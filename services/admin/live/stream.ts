import { PassThrough } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { PageProblem } from '../http/problem.ts'
import type { DayRef, DayShown } from './day.ts'
import { openScreenLimits, type Viewer } from './limits.ts'

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
      let late: DayShown | undefined
      const say = (event: string, data: unknown) =>
        void stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      const unwatch = live.watch(ref, {
        onShown(shown) {
          late = stream.writableNeedDrain ? shown : undefined
          if (late === undefined) say('day', shown)
        },
        onBeat(beat) {
          if (!stream.writableNeedDrain) say('beat', beat)
        },
      })
      stream.on('drain', () => {
        const shown = late
        late = undefined
        if (shown !== undefined) say('day', shown)
      })
      const check = setInterval(async () => {
        place.keep()
        // While Postgres does not answer, the screen goes on.
        const isOver = !(await viewer.mayContinue().catch(() => true))
        if (!isOver || stream.destroyed) return
        say('signed-out', {})
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
      stream.write('retry: 1000\n\n')
      return reply
        .type('text/event-stream')
        .headers({ 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
        .send(stream)
    },
    close() {
      for (const stream of open) stream.end()
    },
  }
}
