import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run, tryRun } from '../command.ts'
import { makeFolder } from '../install/makeFolder.ts'
import type { PartSetup } from './part.ts'
import type { Owner } from './process.ts'

/**
 * Whom Postgres runs as: it refuses to run as root, so root lends it the system user `postgres`, which is made when it
 * is missing. Undefined for everybody else: it runs as oneself.
 */
export async function postgresOwner(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const known = await lookUp()
  if (known !== undefined) return known
  await run('useradd', [
    '--system',
    '--user-group',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ])
  return lookUp()
}

async function lookUp(): Promise<Owner | undefined> {
  const uid = await tryRun('id', ['-u', 'postgres'])
  const gid = await tryRun('id', ['-g', 'postgres'])
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/**
 * Where the data lies and which binaries to run. Usually the folder that was asked for and the package's binaries; when
 * the checkout lies where Postgres's user may not go (below /root), a folder of the system's own for this checkout.
 */
export async function placeFor(
  { folder, durable, log }: PartSetup,
  packaged: string,
  owner: Owner | undefined,
): Promise<{ folder: string; native: string }> {
  mkdirSync(folder, { recursive: true })
  if (owner === undefined) return { folder, native: packaged }
  chownSync(folder, owner.uid, owner.gid)
  const mayWrite = canReach(folder, '-w', owner)
  const mayRun = canReach(join(packaged, 'bin/postgres'), '-x', owner)
  if (mayWrite && mayRun) return { folder, native: packaged }
  const elsewhere = fallbackFolder(folder)
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 })
  chownSync(elsewhere, owner.uid, owner.gid)
  if (durable) log(`postgres: its user cannot reach ${folder}, so its data is in ${elsewhere}`)
  return { folder: elsewhere, native: mayRun ? packaged : await copyOf(packaged) }
}

/** Deletes the content of the data folder, or of the folder that replaces it. */
export function forgetFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  if (process.getuid?.() === 0) rmSync(fallbackFolder(folder), { recursive: true, force: true })
}

function canReach(path: string, test: '-w' | '-x', owner: Owner): boolean {
  return spawnSync('/bin/sh', ['-c', `test ${test} "$0"`, path], { ...owner, cwd: '/' }).status === 0
}

const systemFolder = '/var/lib/tally-local'
const short = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
const fallbackFolder = (folder: string) => join(systemFolder, short(folder))

/** A copy of the binaries that everybody may run, made once for each version of the package. */
async function copyOf(packaged: string): Promise<string> {
  const version = readFileSync(join(packaged, '../package.json'), 'utf8')
  const copy = join(systemFolder, `postgres-${short(packaged + version)}`)
  await makeFolder(copy, partly => cpSync(packaged, partly, { recursive: true, verbatimSymlinks: true }))
  return copy
}
