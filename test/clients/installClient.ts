import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll } from 'vitest'
import { run } from '#infra/command.ts'

const root = join(import.meta.dirname, '../..')
const client = 'packages/client'

/** A new folder outside the checkout, which is deleted after the tests of the file. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-client-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The line of a document, a path in the checkout, that makes the package. */
function packCommand(document: string): string {
  const [line] = /^npm .*\bpack\b[^#\n]*/m.exec(readFileSync(join(root, document), 'utf8')) ?? []
  if (line === undefined) throw new Error(`${document} does not say how to make the package`)
  return line.trim()
}

/**
 * Makes the package as its README says, installs it into an empty folder in `made`, as an adopter does, and returns the
 * path of that folder.
 */
export async function installClient(made: string): Promise<string> {
  const [checkout, adopter] = [copyCheckout(made), join(made, 'adopter')]
  await run('sh', ['-c', packCommand(`${client}/README.md`)], { cwd: checkout })
  const archive = readdirSync(checkout).find(name => name.endsWith('.tgz')) ?? ''
  cpSync(join(checkout, archive), join(adopter, 'tally-client.tgz'))
  writeFileSync(join(adopter, 'package.json'), '{ "type": "module", "private": true }')
  const quiet = ['--silent', '--no-audit', '--no-fund', '--offline']
  await run('npm', ['install', ...quiet, './tally-client.tgz'], { cwd: adopter })
  return adopter
}

/**
 * A checkout that npm has just installed, with the client as its only package. Each test file has its own, so that they
 * do not build over each other, and nothing that an earlier build left makes up for a step that a document lacks.
 */
function copyCheckout(made: string): string {
  const checkout = join(made, 'checkout')
  mkdirSync(checkout)
  for (const file of ['package.json', 'tsconfig.json', '.npmrc', '.gitignore'])
    cpSync(join(root, file), join(checkout, file))
  const isSource = (path: string) => !['dist', 'node_modules'].includes(basename(path))
  cpSync(join(root, client), join(checkout, client), { recursive: true, filter: isSource })
  for (const folder of ['node_modules', `${client}/node_modules`])
    symlinkSync(join(root, folder), join(checkout, folder))
  return checkout
}
