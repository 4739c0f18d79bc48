/**
 * Works of several partitions: one after the other within a partition, at most `limit` at once in all. `begin` resolves as soon as
 * the work has begun, so that whoever brings works brings the next one meanwhile.
 */
export type Lanes = {
  /** `work` never rejects. */
  begin(lane: string, work: () => Promise<void>): Promise<void>
  /** How many works have begun or wait to begin. */
  count(): number
  /** Resolves when none is left. */
  idle(): Promise<void>
}

export function openLanes(limit: number): Lanes {
  const busy = new Set<string>()
  const waiting: { lane: string; run: () => void }[] = []
  let nobody = Promise.withResolvers<void>()

  const isFree = (lane: string): boolean => busy.size < limit && !busy.has(lane)

  const next = (): void => {
    for (let index = waiting.findIndex(({ lane }) => isFree(lane)); index >= 0; ) {
      const [first] = waiting.splice(index, 1)
      first?.run()
      index = waiting.findIndex(({ lane }) => isFree(lane))
    }
    if (busy.size === 0 && waiting.length === 0) nobody.resolve()
  }

  return {
    begin(lane, work) {
      if (busy.size === 0 && waiting.length === 0) nobody = Promise.withResolvers()
      const { promise, resolve } = Promise.withResolvers<void>()
      const run = () => {
        busy.add(lane)
        resolve()
        void work().finally(() => {
          busy.delete(lane)
          next()
        })
      }
      waiting.push({ lane, run })
      next()
      return promise
    },
    count: () => busy.size + waiting.length,
    idle: () => (busy.size === 0 && waiting.length === 0 ? Promise.resolve() : nobody.promise),
  }
}
