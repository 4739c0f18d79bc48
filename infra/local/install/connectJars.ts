import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'
import { kafkaVersion } from './kafkaJars.ts'
import { makeFolder } from './makeFolder.ts'
import { ensureMavenJars, type MavenJars } from './mavenJars.ts'

const debeziumVersion = '3.6.1.Final'
const folder = localFolder(`connect-${kafkaVersion}-debezium-${debeziumVersion}`)
const archive = `debezium-connector-postgres-${debeziumVersion}-plugin.tar.gz`

/** Kafka Connect's jars, and Debezium's Postgres connector as the archive that its documentation names (75 MB). */
export const connectJars: MavenJars = {
  name: 'connect',
  title: `Kafka Connect ${kafkaVersion} and Debezium ${debeziumVersion}`,
  pom: join(import.meta.dirname, 'connect/pom.xml'),
  sumsFile: join(import.meta.dirname, 'connectJars.sha256'),
  folder: join(folder, 'libs'),
}

/** Where Connect is: its jars for the class path, and the folder for its `plugin.path`. */
export type ConnectFolders = { jars: string; plugins: string }

/** Fetches Kafka Connect and Debezium's Postgres connector, once for a checkout. */
export async function ensureConnect(setup: Pick<PartSetup, 'log' | 'signal'>): Promise<ConnectFolders> {
  await ensureMavenJars(connectJars, setup)
  const plugins = join(folder, 'plugins')
  await unpack(join(connectJars.folder, archive), plugins, setup.signal)
  return { jars: connectJars.folder, plugins }
}

/** Unpacks an archive into a folder, once. */
export const unpack = (archive: string, into: string, signal?: AbortSignal): Promise<void> =>
  makeFolder(into, partly => run('tar', ['-xzf', archive, '-C', partly], { signal }))
