/**
 * Works of several partitions: one after the other within a partition, at most `limit` at once in all. `begin` resolves as soon as
 * the work has begun, so that whoever brings works brings the next one meanwhile.
 */
export type Lanes = {
  /** `work` never rejects. */
  begin(lane: string, work: () => Promise<void>): Promise<void>
  /** Whether work of this lane is running. */
  isBusy(lane: string): boolean
  /** How many works have begun or wait to begin. */
  count(): number
  /** Resolves when none is left. */
  idle(): Promise<void>
}

export function openLanes(limit: number): Lanes {
  const busy = new Set<string>()
  const waiting: { lane: string; run: () => void }[] = []
  let nobody = Promise.withResolvers<void>()

  const isIdle = (): boolean => busy.size === 0 && waiting.length === 0
  const nextIndex = (): number => (busy.size < limit ? waiting.findIndex(({ lane }) => !busy.has(lane)) : -1)

  const next = (): void => {
    for (let index = nextIndex(); index >= 0; index = nextIndex()) waiting.splice(index, 1)[0]?.run()
    if (isIdle()) nobody.resolve()
  }

  return {
    begin(lane, work) {
      if (isIdle()) nobody = Promise.withResolvers()
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
    isBusy: lane => busy.has(lane),
    count: () => busy.size + waiting.length,
    idle: () => (isIdle() ? Promise.resolve() : nobody.promise),
  }
}
