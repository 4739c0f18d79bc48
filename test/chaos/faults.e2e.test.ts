import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@tally/testkit/until'
import { expect, onTestFailed, test } from 'vitest'
import { faults } from './faults/index.ts'
import { combineFaults } from './run/combineFaults.ts'
import type { Fault } from './run/fault.ts'
import { runFaults } from './run/rounds.ts'
import { tableOf } from './run/table.ts'
import { startLinkedSystem } from './system/linkedSystem.ts'

function kind(name: string): Fault {
  const found = faults.find(fault => fault.name === name)
  if (found === undefined) throw new Error(`there is no kind of fault "${name}"`)
  return found
}

const wholeBatches = 50
const readersPoll: Fault = {
  name: 'no fault, but readers that poll all views',
  allows: 'everything',
  run: (_system, _random, { polling, wrongs }) =>
    until(
      `${wholeBatches} groups of views are compared`,
      () => polling.seen().wholeBatches >= wholeBatches || wrongs.list.length > 0,
      // On a very busy machine hardly any group is asked between two batches.
      400_000,
    ),
}

/**
 * The kinds that differ in what breaks, each with those that another part has at the same time; `npm run test:chaos`
 * injects all kinds, one by one. test/faults and whenDown.e2e.test.ts have the others without the load.
 */
const kinds = [
  readersPoll,
  combineFaults(
    kind('projector killed, one of three'),
    kind('query process killed'),
    kind('Redis killed, loses its data'),
    kind('a transaction of another producer stays open, then commits'),
  ),
  combineFaults(kind('Kafka killed'), kind('Postgres killed'), kind('query process ends in good order')),
  combineFaults(
    kind('Postgres read-only'),
    kind('query process frozen, goes on'),
    kind('Redis FLUSHALL'),
    kind("Kafka's name does not resolve"),
  ),
  combineFaults(
    kind('Postgres goes back to an older state under load'),
    kind('a transaction of another producer stays open, then aborts'),
    kind("Redis's name does not resolve"),
  ),
  kind('heads of the events of a shard locked by another session'),
]

test('parts that break together under load: nothing lost, nothing twice, never half a batch, never back, no restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-faults-'))
  const log: string[] = []
  onTestFailed(() => console.error(`${log.join('\n')}\nlogs in ${folder}`))
  const load = { seed: 4, count: kinds.length, rate: 100, readers: 1, log: (line: string) => log.push(line) }
  const outcome = await runFaults({ start: startLinkedSystem, kinds, folder, ...load })
  console.info(tableOf(outcome))
  expect(outcome.wrongs).toEqual([])
  expect(outcome.rounds).toHaveLength(kinds.length)
  expect(outcome.badRecords).toBeGreaterThan(0)
  expect(outcome.wholeBatches).toBeGreaterThanOrEqual(wholeBatches)
  expect(outcome.claims).toBeGreaterThan(100)
  expect(outcome.wholeClaims).toBeGreaterThan(10)
  rmSync(folder, { recursive: true, force: true })
}, 600_000)
