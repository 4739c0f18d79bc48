import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runTally } from '@tally/testkit/processes/process'
import { newFestival } from '@tally/testkit/records/festival'
import { reportsOnReadyz } from '../checks/checking.ts'
import { type DamagedBatch, writeDamagedBatch } from '../load/damagedBatch.ts'
import { outgoingOf } from '../load/feeding.ts'
import type { Fault, FaultTools } from '../run/fault.ts'
import type { LinkedSystem } from '../system/linkedSystem.ts'
import { shardOf } from '../system/system.ts'

const saidTimeoutMs = 30_000
const goOnTimeoutMs = 15_000

/** Waits until `tally offsets` reports that a partition is stalled, and why. */
async function untilOffsetsShow({ env }: LinkedSystem, { topic, partition }: DamagedBatch): Promise<boolean> {
  for (const until = Date.now() + saidTimeoutMs; Date.now() < until; await sleep(200)) {
    const { stdout } = await runTally(['offsets', '--json'], env)
    const rows = stdout.split('\n').filter(line => line.startsWith('{'))
    const found = rows
      .map(line => JSON.parse(line))
      .find(row => row.topic === topic && row.partition === partition)
    if (found?.state === 'undecodable') return true
  }
  return false
}

async function meetDamage(system: LinkedSystem, tools: FaultTools, eventId: string): Promise<void> {
  const { feeding, wrongs, eventIds, isFresh } = tools
  const festival = newFestival({ eventId, organizationId: feeding.book.organizationOf(eventId) })
  // No process may have read the batch before it is damaged. Its record was sent before, so skipping it changes
  // nothing.
  await system.links.kafka.cut()
  const damaged = await writeDamagedBatch(system, outgoingOf(festival.event()))
  await system.links.kafka.mend()
  try {
    const { topic, partition, offset } = damaged
    const where = `${topic} ${partition}, offset ${offset}`
    const others = eventIds().filter(id => shardOf(id) !== partition)
    if (!(await isFresh({ sinceMs: Date.now(), timeoutMs: goOnTimeoutMs, eventIds: others })))
      wrongs.add('other partitions go on despite a batch that cannot be decoded', where)
    if (!(await reportsOnReadyz(system, /tally offsets skip/, saidTimeoutMs)))
      wrongs.add('what cannot be decoded is loud', `${where}: no /readyz names the command`)
    if (!(await untilOffsetsShow(system, damaged)))
      wrongs.add('tally offsets names what cannot be decoded', where)
    const skip = ['offsets', 'skip', topic, String(partition), '--to', String(offset + 1), '--yes']
    const { code, stderr } = await runTally(skip, system.env)
    if (code !== 0) wrongs.add('tally offsets skip continues past it', `${where}: ${code} ${stderr}`)
    if (!(await isFresh({ sinceMs: Date.now(), timeoutMs: goOnTimeoutMs })))
      wrongs.add('the projector continues by itself after tally offsets skip', where)
  } finally {
    damaged.repair()
  }
}

export const undecodableFaults: Fault[] = [
  {
    name: 'a batch that cannot be decoded, then skipped',
    allows: 'everything',
    isPossible: ({ dataFolder }) => existsSync(join(dataFolder, 'kafka/data')),
    run: (system, random, tools) => meetDamage(system, tools, random.of(tools.eventIds())),
  },
]
