import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/**
 * The tests of `npm run test:integrations`. They download programs of others, some of them hundreds of megabytes, so
 * `npm test` does not run them. One file at a time: each starts a JVM or a compiler of its own.
 */
export default defineConfig({
  root: join(import.meta.dirname, '../..'),
  test: {
    include: ['test/integrations/*.integration.test.ts'],
    globalSetup: 'infra/local/tests/testServers.ts',
    pool: 'forks',
    maxWorkers: 1,
    // A first run downloads, and compiles.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 30_000,
  },
})
