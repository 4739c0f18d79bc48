import { spawnSync } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { System } from './system.ts'

export type PostgresCopy = {
  /**
   * Kills the server and starts it with the copied data; `promoted`: on a timeline of its own, as a standby that takes
   * over.
   */
  putBack: (how: { promoted: boolean }) => Promise<void>
}

/** Copies the data of the running server as a base backup does (PostgreSQL's manual, low-level base backups). */
export async function copyPostgres({
  db,
  dataFolder,
  servers,
}: Pick<System, 'db' | 'dataFolder'> & { servers: Pick<System['servers'], 'part'> }): Promise<PostgresCopy> {
  const copy = join(dataFolder, 'postgres-copy')
  rmSync(copy, { recursive: true, force: true })
  const data = await db.connection().execute(async session => {
    const { rows: settings } = await sql<{ path: string }>`
select current_setting('data_directory') as path`.execute(session)
    const path = settings[0]?.path ?? ''
    await sql`select pg_backup_start('chaos', fast => true)`.execute(session)
    copyFolder(path, copy)
    const { rows } = await sql<{ label: string }>`
select labelfile as label from pg_backup_stop(wait_for_archive => false)`.execute(session)
    // WAL written during the copy is needed too, up to the end of the backup.
    rmSync(join(copy, 'pg_wal'), { recursive: true, force: true })
    copyFolder(join(path, 'pg_wal'), join(copy, 'pg_wal'))
    rmSync(join(copy, 'postmaster.pid'), { force: true })
    writeLike(path, join(copy, 'backup_label'), rows[0]?.label ?? '')
    return path
  })
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

/** Keeps owners and times; a file that disappears while it is copied is not needed. */
function copyFolder(from: string, to: string): void {
  const { stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  const other = stderr.split('\n').filter(line => line !== '' && !line.includes('No such file or directory'))
  if (other.length > 0 || !existsSync(to)) throw new Error(`${from} could not be copied: ${stderr}`)
}

/** Writes a file with the owner of another one. */
function writeLike(owned: string, file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  const { uid, gid } = statSync(owned)
  chownSync(file, uid, gid)
}
