import fc from 'fast-check'
import { type Conversation, conversationsOf, type Known } from './conversations.ts'
import { deliver, deliveries, type Seen } from './deliveries.ts'

export type Run = { seed: number; runs?: number; minutes?: number }

/**
 * Sends conversations to the API, each in all deliveries: the answers and the end of the connection must not depend on
 * which reader of requests gets the bytes, and in what pieces. Throws with the seed and the smallest conversation that
 * fails; resolves with the number of conversations.
 */
export async function compareReaders(
  address: string,
  known: Known,
  { seed, runs, minutes }: Run,
): Promise<number> {
  let count = 0
  const property = fc.asyncProperty(conversationsOf(known), async conversation => {
    count += 1
    const wrong = await differences(address, known, conversation)
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  })
  await fc.assert(property, {
    seed,
    numRuns: runs ?? Number.MAX_SAFE_INTEGER,
    ...(minutes !== undefined && {
      interruptAfterTimeLimit: minutes * 60_000,
      markInterruptAsFailure: false,
    }),
  })
  return count
}

async function differences(address: string, known: Known, conversation: Conversation): Promise<string[]> {
  const seen = await Promise.all(
    deliveries.map(async delivery => ({
      name: delivery.name,
      ...(await untilWhole(() => deliver(address, known, conversation, delivery))),
    })),
  )
  const [first, ...others] = seen as [(typeof seen)[0], ...typeof seen]
  const differing = others.filter(({ answers }) => answers.join('\n') !== first.answers.join('\n'))
  return [
    ...seen.flatMap(({ name, faults }) => faults.map(fault => `${name}: ${fault}`)),
    ...(differing.length === 0
      ? []
      : [first, ...differing].map(({ name, answers }) => `${name}:\n${answers.join('\n')}`)),
  ]
}

/** A client that still sends at a close may lose answers: it tries again. A server's own resets come each time. */
async function untilWhole(send: () => Promise<Seen>): Promise<Seen> {
  let seen = await send()
  for (let tries = 1; seen.isTorn && tries < 5; tries += 1) seen = await send()
  return seen
}
