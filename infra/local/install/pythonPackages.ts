import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'

/**
 * Installs packages of fixed versions from PyPI (`name==version`) once for a checkout, in a virtual environment of
 * their own; returns the path of a program of it (`python`, or one that a package brings). Needs Python 3 with venv.
 */
export async function pythonPrograms(
  packages: string[],
  log: (line: string) => void,
): Promise<(name: string) => string> {
  const folder = localFolder(join('python', packages.join('+')))
  const program = (name: string) => join(folder, 'bin', name)
  const complete = join(folder, 'complete')
  if (!existsSync(complete)) {
    rmSync(folder, { recursive: true, force: true })
    log(`installing ${packages.join(', ')} from PyPI into ${folder}, once`)
    await run('python3', ['-m', 'venv', folder])
    await run(program('pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages])
    writeFileSync(complete, '')
  }
  return program
}
