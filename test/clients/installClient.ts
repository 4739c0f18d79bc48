import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { run } from '#infra/command.ts'

/** A new folder outside the checkout, which is deleted after the tests of the file. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-client-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Installs the package of a running service as its README says, in a new folder in `made`; returns that folder. */
export async function installClient(made: string, address: string | undefined): Promise<string> {
  const adopter = join(made, 'adopter')
  mkdirSync(adopter)
  writeFileSync(join(adopter, 'package.json'), '{ "type": "module", "private": true }')
  const quiet = ['--silent', '--no-audit', '--no-fund', `--cache=${join(made, 'cache')}`]
  await run('curl', ['--fail', '-sS', '-O', `${address}/docs/client.tgz`], { cwd: adopter })
  await run('npm', ['install', ...quiet, './client.tgz'], { cwd: adopter })
  return adopter
}
