import { join } from 'node:path'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'
import { ensureMavenJars, type MavenJars } from './mavenJars.ts'

/** As in pom.xml, kafkaTools.xml and connect/pom.xml; prerequisites.mjs names its folder. */
export const kafkaVersion = '4.3.1'

/** The folder of Kafka's jars after `ensureJars` has returned. */
export const jarsFolder = localFolder(join(`kafka-${kafkaVersion}`, 'libs'))

/** Kafka's server, with its clients and tools (44 MB). */
export const kafkaJars: MavenJars = {
  name: 'kafka',
  title: `Kafka ${kafkaVersion}`,
  pom: join(import.meta.dirname, 'pom.xml'),
  sumsFile: join(import.meta.dirname, 'kafkaJars.sha256'),
  folder: jarsFolder,
}

/** Fetches Kafka and what it needs, once for a checkout. */
export const ensureJars = (setup: Pick<PartSetup, 'log' | 'signal'>): Promise<void> =>
  ensureMavenJars(kafkaJars, setup)
