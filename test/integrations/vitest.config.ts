import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `npm run test:integrations`: apart because of large downloads; one at a time, as each starts a JVM or a compiler. */
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
