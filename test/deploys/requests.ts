import { ask } from '@tally/testkit/processes/http'
import { until } from '@tally/testkit/until'
import type { Balancer } from './balancer.ts'

/** Fewer than connections that are opened: no request waits for one. */
const mostAtOnce = 60

/**
 * Sends requests at a steady rate and repeats none. A request fails if its connection does, or if its answer is not
 * 200. If the machine is late, the missing requests follow as soon as fewer than 60 wait for an answer.
 */
export function startRequests(
  balancer: Balancer,
  { rate, paths, token }: { rate: number; paths: string[]; token: string },
) {
  const beganMs = performance.now()
  const failures: string[] = []
  let sent = 0
  let answered = 0
  const send = async (path: string): Promise<void> => {
    try {
      const { status, text } = await ask(balancer.next(), path, { token })
      if (status !== 200) failures.push(`${path}: ${status} ${text}`)
    } catch (error) {
      failures.push(`${path}: ${error}`)
    }
    answered++
  }
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - beganMs) / 1_000) * rate)
    while (sent < due && sent - answered < mostAtOnce) void send(paths[sent++ % paths.length] ?? '')
  }, 5)
  return {
    /** What went wrong so far. */
    failures,
    /** Stops, and waits for the last answers. */
    async stop(): Promise<{ sent: number; perSecond: number }> {
      clearInterval(timer)
      const seconds = (performance.now() - beganMs) / 1_000
      await until('all requests are answered', () => answered === sent)
      return { sent, perSecond: Math.round(sent / seconds) }
    },
  }
}
