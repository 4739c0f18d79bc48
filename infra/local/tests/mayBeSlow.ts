const because = (reason: string, ...files: string[]): Record<string, string> =>
  Object.fromEntries(files.map(file => [file, reason]))

/** Test files that may take longer than 20 s, and why. */
export const mayBeSlow: Record<string, string> = {
  ...because(
    'faults follow one another, each with servers of its own that break and come back',
    'packages/kafka/consumer/outage.int.test.ts',
    'test/chaos/cluster.e2e.test.ts',
    'test/chaos/faults.e2e.test.ts',
    'test/chaos/partitions.e2e.test.ts',
    'test/chaos/whenDown.e2e.test.ts',
    'test/faults/backup.e2e.test.ts',
    'test/faults/brokers.e2e.test.ts',
    'test/faults/clients.e2e.test.ts',
    'test/faults/connections.e2e.test.ts',
    'test/faults/doctor.e2e.test.ts',
    'test/faults/frozen.e2e.test.ts',
    'test/faults/log.e2e.test.ts',
    'test/faults/lostCommits.e2e.test.ts',
    'test/faults/start.e2e.test.ts',
    'test/faults/stop.e2e.test.ts',
  ),
  ...because(
    'an earlier version runs beside this one, or processes are killed and started again and again',
    'packages/repair/fromKafka.e2e.test.ts',
    'packages/repair/rebuild.e2e.test.ts',
    'test/acceptance/killed.e2e.test.ts',
    'test/deploys/newKinds.e2e.test.ts',
    'test/deploys/query.e2e.test.ts',
    'test/deploys/upgrade.e2e.test.ts',
  ),
  ...because(
    'a browser, at several sizes and in both schemes',
    'test/browser/account.e2e.test.ts',
    'test/browser/keys.e2e.test.ts',
    'test/browser/live.e2e.test.ts',
    'test/browser/pages.e2e.test.ts',
    'test/browser/tabs.int.test.ts',
    'test/clients/pages.e2e.test.ts',
  ),
  ...because(
    'each program or command of the documents runs',
    'test/clients/guides.e2e.test.ts',
    'test/monitoring/live.e2e.test.ts',
    'test/recipes/nodeRed.e2e.test.ts',
  ),
  ...because('Spin tries every interleaving', 'test/model/model.int.test.ts'),
  ...because(
    'the largest records there may be',
    'test/acceptance/largeRecords.e2e.test.ts',
    'test/contract/documents.int.test.ts',
    'test/faults/records.e2e.test.ts',
  ),
  ...because(
    'each of some hundred cases is checked in every place where it could show',
    'packages/repair/damage.int.test.ts',
    'test/hostile/secrets.e2e.test.ts',
  ),
}

/** The longest that any other file may take, on two cores that nothing else uses. */
export const mostSeconds = 20
