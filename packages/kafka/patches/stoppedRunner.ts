/** The part of kafkajs's Runner that the patch uses. */
type Runner = {
  /** Set once the runner has joined its group, until it is stopped. */
  running: boolean
  consumerGroup: { leave(): Promise<void>; cluster: { disconnect(): Promise<void> } }
  stop(): Promise<void>
  /** Called after joining and after each round of the fetch loop: goes on with the next round. */
  scheduleFetchManager(): void
  fetch(nodeId: string): Promise<unknown[]>
}

/**
 * Ends a consumer that was stopped, in two cases in which kafkajs 2.2.4 goes on:
 *
 * - It was still joining its group. kafkajs then stops nothing: once it has joined, it is given partitions, which
 *   nobody processes any more.
 * - The set of brokers changed while it stopped. kafkajs answers the fetch loop of a stopped consumer with an empty
 *   fetch at once, and new loops begin that nothing stops and that never let the process do anything else
 *   (tulios/kafkajs#1384 describes the same for another cause).
 */
export function patchStoppedRunner(prototype: object): void {
  const { fetch, stop, scheduleFetchManager } = prototype as Runner
  const stopped = new WeakSet<Runner>()
  Object.assign(prototype, {
    async stop(this: Runner): Promise<void> {
      stopped.add(this)
      return stop.call(this)
    },
    scheduleFetchManager(this: Runner): void {
      if (stopped.has(this) && this.running) void leave(this)
      else scheduleFetchManager.call(this)
    },
    async fetch(this: Runner, nodeId: string): Promise<unknown[]> {
      if (!this.running) throw new Error('the consumer has stopped')
      return fetch.call(this, nodeId)
    },
  })
}

async function leave(runner: Runner): Promise<void> {
  runner.running = false
  await runner.consumerGroup.leave().catch(() => undefined)
  await runner.consumerGroup.cluster.disconnect().catch(() => undefined)
}
