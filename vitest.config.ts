import { defineConfig } from 'vitest/config'

const folders = '{packages,services,infra,test}/**'
/**
 * A state may be reached late on a busy machine: vitest's default of 1 s for `expect.poll` is not a requirement of
 * Tally.
 */
const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  teardownTimeout: 30_000,
  expect: { poll: { timeout: 30_000 } },
}

/** Two projects, so that a run of unit tests alone starts no server. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: 'unit', include: [`${folders}/*.unit.test.ts`] } },
      {
        test: {
          ...shared,
          name: 'servers',
          include: [`${folders}/*.{int,e2e}.test.ts`],
          globalSetup: 'infra/local/tests/testServers.ts',
        },
      },
    ],
  },
})
