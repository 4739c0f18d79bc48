import { chmodSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'
import { ensureJars, jarsFolder, kafkaVersion } from './kafkaJars.ts'
import { ensureMavenJars, type MavenJars } from './mavenJars.ts'

/** Kafka's tools (0.7 MB), which need the jars of its server. */
export const kafkaTools: MavenJars = {
  name: 'kafka tools',
  title: `Kafka's tools ${kafkaVersion}`,
  pom: join(import.meta.dirname, 'kafkaTools.xml'),
  sumsFile: join(import.meta.dirname, 'kafkaTools.sha256'),
  folder: localFolder(join(`kafka-${kafkaVersion}`, 'tools')),
}

/** Fetches Kafka's tools, once for a checkout, and writes its `kafka-transactions.sh` to this path. */
export async function writeKafkaTransactions(
  path: string,
  setup: Pick<PartSetup, 'log' | 'signal'>,
): Promise<void> {
  await ensureJars(setup)
  await ensureMavenJars(kafkaTools, setup)
  const classes = [kafkaTools.folder, jarsFolder].map(folder => join(folder, '*')).join(delimiter)
  writeFileSync(
    path,
    `#!/bin/sh\nexec java -cp '${classes}' org.apache.kafka.tools.TransactionsCommand "$@"\n`,
  )
  chmodSync(path, 0o755)
}
