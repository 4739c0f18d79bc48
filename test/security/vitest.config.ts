import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** The tests of `npm run test:security`: they take minutes, and the machine's processors. One file at a time. */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/security/*.security.test.ts'],
    globalSetup: 'infra/local/tests/testServers.ts',
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
  },
})
