import type { Assignment } from '../types.ts'

/** The part of kafkajs's ConsumerGroup that the patch uses. */
type ConsumerGroup = {
  assigners: { joined?(generation: number, assignment: Assignment): void }[]
  generationId: number
  assigned(): { topic: string; partitions: number[] }[]
  joinAndSync(): Promise<void>
}

/**
 * Tells the assigner what its member was given, and in which generation of the group: the assigner of kafkajs 2.2.4 is
 * asked what to send when the member joins, but is never told the result, so it cannot claim what the member has.
 */
export function patchJoined(prototype: object): void {
  const { joinAndSync } = prototype as ConsumerGroup
  Object.assign(prototype, {
    async joinAndSync(this: ConsumerGroup): Promise<void> {
      await joinAndSync.call(this)
      const assignment = new Map(this.assigned().map(({ topic, partitions }) => [topic, partitions]))
      for (const assigner of this.assigners) assigner.joined?.(this.generationId, assignment)
    },
  })
}
