import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'

const version = '5.0.7'

/**
 * The folder whose node_modules hold Node-RED's runtime and its nodes, without the editor (79 MB). Installs them once
 * for a checkout, from a lock file of their own: nothing that Tally ships depends on them.
 */
export async function nodeRedFolder(log: (line: string) => void): Promise<string> {
  const folder = localFolder(`node-red-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(localFolder('.'), { recursive: true })
  const partly = mkdtempSync(`${folder}.`)
  log(`installing Node-RED ${version} from npm into ${folder} (237 packages), once`)
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(import.meta.dirname, 'nodeRed', file), join(partly, file))
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['ci', '--ignore-scripts', ...quiet], { cwd: partly })
    renameSync(partly, folder)
  } finally {
    rmSync(partly, { recursive: true, force: true })
  }
  return folder
}
