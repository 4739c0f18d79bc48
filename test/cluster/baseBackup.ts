import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'

/**
 * Copies the data of the running server at `databaseUrl` to the folder `copy`, as a base backup does (PostgreSQL's
 * manual, low-level base backups), because the packaged binaries have no pg_basebackup. Returns the server's own
 * folder.
 */
export async function baseBackup(databaseUrl: string, copy: string): Promise<string> {
  rmSync(copy, { recursive: true, force: true })
  const session = new Client({ connectionString: databaseUrl })
  await session.connect()
  try {
    const settings = await session.query("select current_setting('data_directory') as path")
    const data: string = settings.rows[0].path
    await session.query("select pg_backup_start('copy', fast => true)")
    copyFolder(data, copy)
    const { rows } = await session.query(
      'select labelfile as label from pg_backup_stop(wait_for_archive => false)',
    )
    // WAL written during the copy is needed too, up to the end of the backup.
    rmSync(join(copy, 'pg_wal'), { recursive: true, force: true })
    copyFolder(join(data, 'pg_wal'), join(copy, 'pg_wal'))
    rmSync(join(copy, 'postmaster.pid'), { force: true })
    writeLike(data, join(copy, 'backup_label'), rows[0].label)
    return data
  } finally {
    await session.end()
  }
}

/** Keeps owners and times; a file that disappears while it is copied is not needed. */
export function copyFolder(from: string, to: string): void {
  const { stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' })
  const other = stderr.split('\n').filter(line => line !== '' && !line.includes('No such file or directory'))
  if (other.length > 0 || !existsSync(to)) throw new Error(`${from} could not be copied: ${stderr}`)
}

/** Writes a file with the owner of another one. */
export function writeLike(owned: string, file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600 })
  const { uid, gid } = statSync(owned)
  chownSync(file, uid, gid)
}
