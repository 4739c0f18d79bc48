/** The part of kafkajs's Runner that the patch uses. */
type Runner = { running: boolean; fetch(nodeId: string): Promise<unknown[]> }

/**
 * Ends the fetch loop of a consumer that has stopped. kafkajs 2.2.4 answers such a loop with an empty fetch at once: if
 * the set of brokers changes while the consumer stops, new loops begin that nothing stops, and they never let the
 * process do anything else (tulios/kafkajs#1384 describes the same for another cause).
 */
export function patchStoppedRunner(prototype: object): void {
  const { fetch } = prototype as Runner
  Object.assign(prototype, {
    async fetch(this: Runner, nodeId: string): Promise<unknown[]> {
      if (!this.running) throw new Error('the consumer has stopped')
      return fetch.call(this, nodeId)
    },
  })
}
