import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './infra/local/tests/slowestFirst.ts'

const folders = '{packages,services,infra,test}/**'
const model = 'test/model/*.int.test.ts'
/** Unit tests that mock modules, which has no effect on modules that another file has loaded. */
const mocking = globSync(`${folders}/*.unit.test.ts`, { exclude: ['**/node_modules'] }).filter(file =>
  readFileSync(file, 'utf8').includes('\nvi.mock('),
)
/**
 * No limit here is a requirement of Tally: on a busy machine a state may be reached late. A test may take longer than
 * the `until` in it (packages/testkit/until.ts), whose error says what did not happen.
 */
const shared = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  teardownTimeout: 30_000,
  expect: { poll: { timeout: 120_000 } },
  setupFiles: ['infra/local/tests/processorTime.ts'],
}

/** Unit tests need nothing installed, the model needs Spin, all others need servers. */
export default defineConfig({
  test: {
    pool: 'forks',
    // Two files for each core: most of them wait, for Kafka above all.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    projects: [
      // Loading modules again for each file took 41 s of processor time for all unit tests, instead of 25 s, and a
      // second for each file with servers.
      {
        test: {
          ...shared,
          name: 'unit',
          include: [`${folders}/*.unit.test.ts`],
          exclude: mocking,
          isolate: false,
        },
      },
      { test: { ...shared, name: 'mocking', include: mocking } },
      { test: { ...shared, name: 'model', include: [model] } },
      {
        test: {
          ...shared,
          name: 'servers',
          include: [`${folders}/*.{int,e2e}.test.ts`],
          exclude: [model],
          globalSetup: 'infra/local/tests/testServers.ts',
          isolate: false,
        },
      },
    ],
  },
})
