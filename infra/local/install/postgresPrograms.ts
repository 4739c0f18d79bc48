import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { installPackage } from './apt.ts'

/**
 * The folder with `bin/postgres`, `bin/pg_basebackup` and `bin/pg_verifybackup` of Debian's newest Postgres, which is
 * installed as root if it is missing: the npm package has no programs for backups, and those of another version do not
 * work with its server. Throws the one line that says what to install.
 */
export async function postgresPrograms(log: (line: string) => void): Promise<string> {
  const found = newest() ?? ((await installPackage('postgresql', { log, signal: undefined })) && newest())
  if (found) return found
  throw new Error('pg_basebackup is missing: install Postgres 15 or later (apt-get install postgresql)')
}

const versionOf = (folder: string): number => Number(folder.split('/').at(-1))

const newest = (): string | undefined =>
  globSync('/usr/lib/postgresql/*')
    .filter(folder => versionOf(folder) >= 15)
    .filter(folder => ['initdb', 'pg_basebackup'].every(name => existsSync(join(folder, 'bin', name))))
    .toSorted((one, other) => versionOf(other) - versionOf(one))[0]
