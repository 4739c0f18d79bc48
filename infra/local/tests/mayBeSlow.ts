const faults = 'faults follow one another, each with servers of its own that break and come back'
const versions =
  'an earlier version runs next to this one, or processes are killed and started again and again'
const browser = 'a browser, at several sizes and in both schemes'
const programs = 'each program or command of the documents runs'
const largest = 'the largest records there may be'
const seasons = 'evenings of records are sent, and every answer is compared'
const limits = 'limits of the product pass in real time'
const everywhere = 'each of some hundred cases is checked in every place where it could show'

/** Test files that may take longer than 20 s, by how their paths begin, and why. */
export const mayBeSlow: Record<string, string> = {
  'packages/kafka/consumer/outage.int': faults,
  'test/chaos/': faults,
  'test/faults/': faults,
  'packages/repair/fromKafka.e2e': versions,
  'packages/repair/rebuild.e2e': versions,
  'packages/repair/removal.e2e': versions,
  'test/deploys/': versions,
  'test/browser/': browser,
  'services/tally/': programs,
  'test/clients/': programs,
  'test/monitoring/': programs,
  'test/kubernetes/chart': programs,
  'test/recipes/': programs,
  'test/acceptance/largeRecords': largest,
  'test/contract/documents': largest,
  'test/acceptance/random': seasons,
  'test/acceptance/realData': seasons,
  'test/hostile/records': seasons,
  'test/acceptance/asOf': limits,
  'packages/kafka/consumer/consumer.int': limits,
  'packages/repair/damage': everywhere,
  'test/hostile/secrets': everywhere,
  'test/model/': 'Spin tries every interleaving',
}

/** The longest that any other file may take, on two cores that nothing else uses. */
export const mostSeconds = 20
