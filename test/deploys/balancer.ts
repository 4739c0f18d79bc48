import { ask } from '@tally/testkit/processes/http'
import { until } from '@tally/testkit/until'

/** A query process: where it answers, and its operations port. */
export type Target = { address: string; ops: string }

export type Balancer = ReturnType<typeof openBalancer>

/** After this many failed checks in a row a process gets no requests; HAProxy's default is 3. */
const fall = 2

/** A round-robin load balancer inside the test, over processes whose `/readyz` answers 200; it repeats nothing. */
export function openBalancer(everyMs: number) {
  /** How many checks in a row have failed. */
  const failed = new Map<Target, number>()
  let turn = 0
  const check = async (target: Target): Promise<void> => {
    const isReady = await ask(target.ops, '/readyz').then(
      ({ status }) => status === 200,
      () => false,
    )
    if (failed.has(target)) failed.set(target, isReady ? 0 : (failed.get(target) ?? 0) + 1)
  }
  const checks = setInterval(() => {
    for (const target of failed.keys()) void check(target)
  }, everyMs)
  return {
    /** Adds a process; resolves when it gets requests. */
    async add(target: Target): Promise<void> {
      failed.set(target, fall)
      await until('the balancer uses it', () => failed.get(target) === 0)
    },
    /** Takes a process out, as an operator does by hand before it stops. */
    remove: (target: Target) => void failed.delete(target),
    /** The address for the next request. */
    next(): string {
      const usable = [...failed].filter(([, times]) => times < fall).map(([target]) => target)
      const chosen = usable[turn++ % usable.length]
      if (chosen === undefined) throw new Error('no query process is ready')
      return chosen.address
    },
    close: () => clearInterval(checks),
  }
}
