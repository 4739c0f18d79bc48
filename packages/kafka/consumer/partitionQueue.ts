/**
 * Work on several partitions: one piece at a time per partition, at most `limit` pieces at a time in all. `begin`
 * resolves as soon as its work has begun, so that the caller can bring the next piece meanwhile.
 */
export type PartitionQueues = {
  /** `work` never rejects. */
  begin(partition: string, work: () => Promise<void>): Promise<void>
  /** Whether work on this partition is in progress. */
  isBusy(partition: string): boolean
  /** How many pieces of work are in progress or queued. */
  count(): number
  /** Resolves when none is left. */
  idle(): Promise<void>
}

export function createPartitionQueues(limit: number): PartitionQueues {
  const busy = new Set<string>()
  const queued: { partition: string; run: () => void }[] = []
  let idle = Promise.withResolvers<void>()

  const isIdle = (): boolean => busy.size === 0 && queued.length === 0
  const nextIndex = (): number =>
    busy.size < limit ? queued.findIndex(({ partition }) => !busy.has(partition)) : -1

  const next = (): void => {
    for (let index = nextIndex(); index >= 0; index = nextIndex()) queued.splice(index, 1)[0]?.run()
    if (isIdle()) idle.resolve()
  }

  return {
    begin(partition, work) {
      if (isIdle()) idle = Promise.withResolvers()
      const { promise, resolve } = Promise.withResolvers<void>()
      const run = () => {
        busy.add(partition)
        resolve()
        void work().finally(() => {
          busy.delete(partition)
          next()
        })
      }
      queued.push({ partition, run })
      next()
      return promise
    },
    isBusy: partition => busy.has(partition),
    count: () => busy.size + queued.length,
    idle: () => (isIdle() ? Promise.resolve() : idle.promise),
  }
}
