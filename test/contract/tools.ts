import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { run } from '#infra/command.ts'
import { localFolder } from '#infra/folder.ts'

const wanted = join(import.meta.dirname, 'tools')
const folder = localFolder('contract-tools')

/** Finds an installed program of test/contract/tools, or a module of it. */
export type Tools = { program: (name: string) => string; load: (name: string) => unknown }

/**
 * Installs the tools once into .local, with the versions and under the integrity of test/contract/tools. They are not
 * among the dependencies of the checkout, because `npm start` does not need their 260 packages.
 */
export async function installTools(): Promise<Tools> {
  const [lock, installed] = [join(wanted, 'package-lock.json'), join(folder, 'installed.json')]
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
    console.error(`Installing the tools that check the published documents (npm ci) into ${folder}, once ...`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const name of ['package.json', 'package-lock.json'])
      copyFileSync(join(wanted, name), join(folder, name))
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['ci', ...options], { cwd: folder })
    copyFileSync(lock, installed)
  }
  const required = createRequire(join(folder, 'package.json'))
  return {
    program: name => join(folder, 'node_modules/.bin', name),
    load: name => required(name),
  }
}
