import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { faults } from './faults/index.ts'
import type { Fault } from './run/fault.ts'
import { runFaults } from './run/rounds.ts'
import { startLinkedSystem } from './system/linkedSystem.ts'

/** Links are left to the long run (`npm run test:chaos`): whenDown.e2e.test.ts has each of them, without the load. */
const isShort = ({ name, isLong = false }: Fault) => !name.startsWith('connections') && !isLong

test('one fault of each kind under load: nothing lost, nothing twice, never half a batch, never back, no restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-faults-'))
  const kinds = faults.filter(isShort)
  const log: string[] = []
  try {
    const outcome = await runFaults({
      start: startLinkedSystem,
      seed: 4,
      count: kinds.length,
      kinds,
      rate: 300,
      folder,
      log: line => void log.push(line),
    })
    expect(outcome.wrongs).toEqual([])
    // A machine without small disks has one kind less.
    expect(new Set(outcome.rounds.map(({ fault }) => fault)).size).toBeGreaterThanOrEqual(kinds.length - 1)
    expect(outcome.badRecords).toBeGreaterThan(0)
    expect(outcome.wholeBatches).toBeGreaterThan(100)
    expect(outcome.claims).toBeGreaterThan(1_000)
    expect(outcome.wholeClaims).toBeGreaterThan(100)
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${log.join('\n')}\nlogs in ${folder}`)
  }
}, 900_000)
