import { inside } from '@tally/kafka'
import { newFestival } from '@tally/testkit/records/festival'
import { outgoingOf } from '../load/feeding.ts'
import type { Random } from '../load/random.ts'
import { type Fault, type FaultTools, last } from '../run/fault.ts'
import type { System } from '../system/system.ts'

/** Orders of a few events in a transaction that stays open under load; at its end all of them count, or none. */
async function transact(
  { kafka }: System,
  random: Random,
  { feeding, eventIds }: FaultTools,
  end: 'commit' | 'abort',
): Promise<void> {
  const producer = inside(kafka).kafka.producer({
    transactionalId: random.uuid(),
    idempotent: true,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  try {
    const chosen = random.shuffled(eventIds()).slice(0, random.whole(1, 3))
    const records = chosen.flatMap(eventId => {
      const festival = newFestival({ eventId, organizationId: feeding.book.organizationOf(eventId) })
      return Array.from({ length: random.whole(1, 5) }, () => festival.order())
    })
    const transaction = await producer.transaction()
    for (const { topic, key, value } of records.map(outgoingOf))
      await transaction.send({ topic, messages: [{ key, value }] })
    await last(random, 1_500, 4_000)
    if (end === 'abort') return await transaction.abort()
    const acknowledge = feeding.note(records)
    await transaction.commit()
    acknowledge()
  } finally {
    await producer.disconnect()
  }
}

export const transactionFaults: Fault[] = (['commit', 'abort'] as const).map(end => ({
  name: `a transaction of another producer stays open, then ${end}s`,
  allows: 'everything',
  run: (system, random, tools) => transact(system, random, tools, end),
}))
