import { expect, test } from 'vitest'
import { clusterFaults } from './faults/cluster.ts'
import { shortRun } from './run/shortRun.ts'
import { startClusterSystem } from './system/clusterSystem.ts'

/** The others are left to the long run (`npm run test:chaos -- --cluster`). */
const kinds = clusterFaults.filter(({ name }) => name.includes('at once, asynchronous'))

test('a broker, a Redis master and the primary lost at once, with their last writes: every answer is right', async () => {
  await shortRun({ start: wanted => startClusterSystem('cluster', wanted), seed: 1, kinds }, outcome => {
    expect(outcome.wrongs).toEqual([])
    expect(outcome.rounds).toHaveLength(1)
    expect(outcome.claims).toBeGreaterThan(50)
  })
}, 600_000)
