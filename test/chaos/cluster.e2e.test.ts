import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clusterFaults } from './faults/cluster.ts'
import { runFaults } from './run/rounds.ts'
import { startClusterSystem } from './system/clusterSystem.ts'

/** The others are left to the long run (`npm run test:chaos -- --cluster`). */
const kinds = clusterFaults.filter(({ name }) => name.includes('at once, asynchronous'))

test('a broker, a Redis master and the primary lost at once, with their last writes: every answer is right', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-cluster-'))
  const log: string[] = []
  try {
    const outcome = await runFaults({
      start: wanted => startClusterSystem('cluster', wanted),
      seed: 1,
      count: kinds.length,
      kinds,
      rate: 300,
      folder,
      log: line => void log.push(line),
    })
    expect(outcome.wrongs).toEqual([])
    expect(outcome.rounds).toHaveLength(1)
    expect(outcome.claims).toBeGreaterThan(50)
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n${log.join('\n')}\nlogs in ${folder}`)
  }
}, 600_000)
