import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalServers } from '#infra/servers/index.ts'
import { baseBackup, copyFolder, writeLike } from '../../cluster/baseBackup.ts'

export type PostgresCopy = {
  /** Kills the server and starts it with the copy; `promoted`: on its own timeline, as a standby that takes over. */
  putBack: (how: { promoted: boolean }) => Promise<void>
}

type Wanted = { dataFolder: string; servers: Pick<LocalServers, 'part' | 'databaseUrl'> }

/** Copies the data of the running server. */
export async function copyPostgres({ dataFolder, servers }: Wanted): Promise<PostgresCopy> {
  const copy = join(dataFolder, 'postgres-copy')
  const data = await baseBackup(servers.databaseUrl, copy)
  return {
    async putBack({ promoted }) {
      const server = servers.part('postgres')
      await server.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
      copyFolder(copy, data)
      if (promoted) {
        appendFileSync(join(data, 'postgresql.auto.conf'), "restore_command = 'false'\n")
        writeLike(data, join(data, 'recovery.signal'), '')
      }
      await server.start()
    },
  }
}
