import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'

/**
 * Installs packages into `.local/<name>`, once, and again when their lock file changes; returns the folder. `wanted` is
 * the folder of their package.json and lock file: packages that only tests run are not among the checkout's own.
 */
export async function npmPackages(
  name: string,
  wanted: string,
  log: (line: string) => void,
): Promise<string> {
  const folder = localFolder(name)
  const [lock, installed] = [join(wanted, 'package-lock.json'), join(folder, 'installed.json')]
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(lock, 'utf8')) return folder
  log(`Installing the packages of ${name} (npm ci) into ${folder}, once ...`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(wanted, file), join(folder, file))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await run('npm', ['ci', ...options], { cwd: folder })
  copyFileSync(lock, installed)
  return folder
}
