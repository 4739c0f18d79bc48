import { openProducer } from '@tally/kafka'
import type { Random } from '@tally/testkit/random'
import { newFestival } from '@tally/testkit/records/festival'
import { memoryOf } from '../../bench/tally/memoryOf.ts'
import { outgoingOf } from '../load/feeding.ts'
import { badHeader } from '../load/load.ts'
import type { Fault, FaultTools } from '../run/fault.ts'
import type { LinkedSystem } from '../system/linkedSystem.ts'

const MiB = 1024 * 1024
/** The most memory that a process may ever use (docs/reliability.md, Records). */
const mostMiB = 1024
const freshTimeoutMs = 60_000

/** Waits until everything is counted, and checks the peak memory of the projectors. */
async function expectModesty({ projectors }: LinkedSystem, { isFresh, wrongs }: FaultTools): Promise<void> {
  if (!(await isFresh({ sinceMs: Date.now(), timeoutMs: freshTimeoutMs })))
    wrongs.add('a poison record stops nothing', `not fresh after ${freshTimeoutMs / 1000} s`)
  for (const { name, pid, hasEnded } of projectors) {
    if (hasEnded()) continue
    const { peak } = memoryOf(pid)
    if (peak > mostMiB) wrongs.add('memory stays below 1 GiB', `${name} took ${Math.round(peak)} MiB`)
  }
}

const badOrder = (random: Random, eventId: string, value: Buffer) => ({
  record: { type: 'orders' as const, key: eventId, value, headers: { [badHeader]: random.uuid() } },
  isBad: true,
})

export const poisonFaults: Fault[] = [
  {
    name: 'records of up to 12 MiB',
    allows: 'everything',
    async run(system, random, tools) {
      const { feeding } = tools
      const eventId = random.of(tools.eventIds())
      const festival = newFestival({ eventId, organizationId: feeding.book.organizationOf(eventId) })
      const good = Array.from({ length: 5 }, () => festival.order())
      // A field that docs/records.md does not name is ignored, whatever its size.
      const large = (bytes: number, of: object) =>
        Buffer.from(JSON.stringify({ ...of, padding: 'x'.repeat(bytes) }))
      const acknowledge = feeding.note(good)
      const producer = await openProducer(system.kafka)
      for (const record of good)
        await producer.send([{ ...outgoingOf(record), value: large(7 * MiB, record.value) }])
      await producer.close()
      acknowledge()
      for (const size of [8.1, 9, 12])
        await feeding.send([badOrder(random, eventId, large(size * MiB, festival.order().value))])
      await expectModesty(system, tools)
    },
  },
]
