import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** The tests of `npm run test:kubernetes`: they need a cluster, and no servers on this machine. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/kubernetes/*.kubernetes.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
  },
})
