import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { run } from '#infra/command.ts'

const source = join(import.meta.dirname, '../../packages/client')

/** A new folder outside the checkout, which is deleted after the tests of the file. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-client-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Builds `@tally/client` as its README says, but into `folder`, so that test files do not build over each other. */
export async function buildClient(folder: string): Promise<void> {
  const tsc = join(source, 'node_modules/.bin/tsc')
  await run(tsc, ['-p', join(source, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')])
}

/** Installs the packed client into an empty folder in `made`, as an adopter does, and returns its path. */
export async function installClient(made: string): Promise<string> {
  const [packed, adopter] = [join(made, 'packed'), join(made, 'adopter')]
  await buildClient(packed)
  for (const file of ['package.json', 'README.md']) cpSync(join(source, file), join(packed, file))
  const quiet = ['--silent', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['pack', ...quiet, '--pack-destination', made], { cwd: packed })
  const archive = readdirSync(made).find(name => name.endsWith('.tgz'))
  cpSync(join(made, archive ?? ''), join(adopter, 'tally-client.tgz'))
  writeFileSync(join(adopter, 'package.json'), '{ "type": "module", "private": true }')
  await run('npm', ['install', ...quiet, '--offline', './tally-client.tgz'], { cwd: adopter })
  return adopter
}
