import { join } from 'node:path'
import { type LocalServers, type PartName, startServers } from '#infra/servers/index.ts'
import { type Disk, mountDisk } from './disk.ts'
import { type Link, openLink } from './link.ts'
import { hostOf, type Names, openNames } from './names.ts'
import { type Opening, openSystem, type System, type SystemWanted } from './system.ts'

/** One server of each kind, a link in front of each, and Tally's processes behind the links. */
export type LinkedSystem = System & LinkedServers

type LinkedServers = {
  servers: LocalServers
  links: Record<PartName, Link>
  /** The host names by which Tally's processes reach the links. */
  names: Names
  /** A disk for Postgres alone; undefined if it cannot be mounted. */
  disk: Disk | undefined
}

/** Starts everything. If something cannot be started, the rest is stopped again. */
export const startLinkedSystem = (wanted: SystemWanted): Promise<LinkedSystem> => openSystem(wanted, open)

async function open({ folder, dataFolder, log, signal, onDeath, onRelease }: Opening) {
  const disk = mountDisk(join(dataFolder, 'postgres'))
  const servers = await startServers({
    dataFolder,
    logFolder: folder,
    brief: true,
    log,
    onDeath,
    ...(signal && { signal }),
  })
  // Released in reverse: stop, unmount, delete.
  for (const release of [servers.forget, () => disk?.remove(), servers.stop]) onRelease(release)
  const links = await openLinks(servers)
  onRelease(() => Promise.all(Object.values(links).map(link => link.close())))
  const names = openNames(join(folder, 'names'))
  return {
    servers: { servers, links, names, disk },
    direct: servers,
    reached: addressesOf(servers, links),
    env: { NODE_OPTIONS: names.options },
  }
}

async function openLinks(servers: LocalServers): Promise<Record<PartName, Link>> {
  return {
    kafka: await openLink(Number(servers.kafkaBrokers.split(':')[1]), { host: hostOf('kafka') }),
    postgres: await openLink(Number(new URL(servers.databaseUrl).port)),
    redis: await openLink(Number(new URL(servers.redisUrl).port)),
  }
}

/** The addresses that Tally's processes use: those of the links. */
function addressesOf(servers: LocalServers, links: Record<PartName, Link>) {
  const through = (url: string, part: PartName) =>
    Object.assign(new URL(url), { host: `${hostOf(part)}:${links[part].port}` }).href
  return {
    kafkaBrokers: `${hostOf('kafka')}:${links.kafka.port}`,
    databaseUrl: through(servers.databaseUrl, 'postgres'),
    redisUrl: through(servers.redisUrl, 'redis'),
  }
}
