import { expect, test } from 'vitest'
import { faults } from './faults/index.ts'
import type { Fault } from './run/fault.ts'
import { shortRun } from './run/shortRun.ts'
import { startLinkedSystem } from './system/linkedSystem.ts'

/** Links are left to the long run (`npm run test:chaos`): whenDown.e2e.test.ts has each of them, without the load. */
const isShort = ({ name, isLong = false }: Fault) => !name.startsWith('connections') && !isLong

test('one fault of each kind under load: nothing lost, nothing twice, never half a batch, never back, no restart', async () => {
  const kinds = faults.filter(isShort)
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
