import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Asks every 5 ms over one connection, as another client does; `stop` returns how it was answered. */
export function polls(address: string, path: string, headers: Record<string, string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { hostname, port } = new URL(address)
  const tookMs: number[] = []
  const statuses = new Set<number>()
  let isOver = false
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now()
      const outgoing = request({ agent, hostname, port, path, headers }, incoming => {
        incoming.resume().on('error', reject)
        incoming.on('end', () => {
          tookMs.push(performance.now() - began)
          statuses.add(incoming.statusCode ?? 0)
          resolve()
        })
      })
      outgoing.on('error', reject).end()
    })
  const asking = (async () => {
    while (!isOver) {
      await one()
      await sleep(5)
    }
  })()
  asking.catch(() => undefined)
  return {
    async stop() {
      isOver = true
      await asking
      agent.destroy()
      const sorted = tookMs.toSorted((one, other) => one - other)
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
      return { p50: at(0.5), p99: at(0.99), statuses: [...statuses] }
    },
  }
}
