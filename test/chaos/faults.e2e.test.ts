import { expect, test } from 'vitest'
import { faults } from './faults/index.ts'
import { shortRun } from './run/shortRun.ts'
import { startLinkedSystem } from './system/linkedSystem.ts'

/**
 * Kinds that no other test has, and for each of Kafka's, Postgres's and Redis's one that loses connections or data. The
 * others are in test/faults or whenDown.e2e.test.ts, without the load, and all are in the long run.
 */
const names = [
  'projector killed, the only one',
  'projectors join and leave (2, 5, some)',
  'query process killed',
  'connections to Kafka cut',
  'Postgres killed',
  'Postgres read-only',
  "Postgres's disk full",
  'an offset row locked by another session',
  'Redis killed, loses its data',
]

test('faults under load: nothing lost, nothing twice, never half a batch, never back, no restart', async () => {
  const kinds = faults.filter(({ name }) => names.includes(name))
  expect(kinds.length).toBe(names.length)
  await shortRun({ start: startLinkedSystem, seed: 4, kinds }, outcome => {
    expect(outcome.wrongs).toEqual([])
    // A machine without small disks has one kind less.
    expect(new Set(outcome.rounds.map(({ fault }) => fault)).size).toBeGreaterThanOrEqual(kinds.length - 1)
    expect(outcome.badRecords).toBeGreaterThan(0)
    expect(outcome.wholeBatches).toBeGreaterThan(100)
    expect(outcome.claims).toBeGreaterThan(1_000)
    expect(outcome.wholeClaims).toBeGreaterThan(100)
  })
}, 900_000)
