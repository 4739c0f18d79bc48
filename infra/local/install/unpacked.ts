import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'
import { makeFolder } from './makeFolder.ts'
import { onPath } from './programs.ts'

const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=120']

/**
 * The path of a program: one on the PATH, or that of a Debian package, which is unpacked into `.local` and not
 * installed, because it would bring a service and a user of its own. apt checks the package's signature. Throws the one
 * line that says what to install.
 */
export async function unpackedProgram(
  name: string,
  debianPackage: string,
  log: (line: string) => void,
): Promise<string> {
  const path = join(localFolder('debian'), debianPackage, 'usr/bin', name)
  const found = onPath([name]) ?? (existsSync(path) ? path : undefined)
  if (found !== undefined) return found
  log(`${name} is missing: unpacking Debian's package ${debianPackage} into .local/debian, once ...`)
  try {
    await unpack(debianPackage)
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new Error(`install the package ${debianPackage}, or put ${name} on the PATH: ${reason}`)
  }
  return path
}

const unpack = (name: string) =>
  makeFolder(localFolder(join('debian', name)), async partly => {
    await download(name, partly)
    const [file = ''] = globSync('*.deb', { cwd: partly })
    await run('dpkg-deb', ['-x', file, '.'], { cwd: partly })
    rmSync(join(partly, file))
  })

/** A machine whose lists of packages are old or missing needs root for new ones. */
async function download(name: string, folder: string): Promise<void> {
  const get = () => run('apt-get', [...apt, 'download', name], { cwd: folder })
  await get().catch(async error => {
    if (process.getuid?.() !== 0) throw error
    await run('apt-get', [...apt, 'update'])
    await get()
  })
}
