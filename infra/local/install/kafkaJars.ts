import { join } from 'node:path'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'
import { haveMavenJars, type MavenJars } from './mavenJars.ts'

const version = '4.3.1'

/** The folder of Kafka's jars after `haveJars` has returned. */
export const jarsFolder = localFolder(join(`kafka-${version}`, 'libs'))

/** Kafka's server, with its clients and tools (44 MB). */
export const kafkaJars: MavenJars = {
  name: 'kafka',
  title: `Kafka ${version}`,
  pom: join(import.meta.dirname, 'pom.xml'),
  sumsFile: join(import.meta.dirname, 'kafkaJars.sha256'),
  folder: jarsFolder,
}

/** Fetches Kafka and what it needs, once for a checkout. */
export const haveJars = (setup: Pick<PartSetup, 'log' | 'signal'>): Promise<void> =>
  haveMavenJars(kafkaJars, setup)
