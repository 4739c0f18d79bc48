import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { previousVersion } from './breaking.ts'

const folder = mkdtempSync(join(tmpdir(), 'tally-breaking-'))
const checkout = join(folder, 'checkout')
const document = 'packages/contract/openapi.json'

const git = async (...args: string[]) => {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
  return (await run('git', [...identity, ...args], { cwd: checkout })).stdout.trim()
}

async function commit(name: string, content: string): Promise<string> {
  writeFileSync(join(checkout, name), content)
  await git('add', '.')
  await git('commit', '--quiet', '--no-verify', '-m', content)
  return git('rev-parse', 'HEAD')
}

let first: string
let second: string

beforeAll(async () => {
  mkdirSync(join(checkout, 'packages/contract'), { recursive: true })
  await git('init', '--quiet')
  first = await commit(document, 'first')
  second = await commit(document, 'second')
  await commit('other', 'unrelated')
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the document is compared with its version before the last change, whatever was committed since', async () => {
  expect(await previousVersion(checkout)).toBe(first)
})

test('a document that is not committed yet is compared with the committed one', async () => {
  writeFileSync(join(checkout, document), 'third')
  expect(await previousVersion(checkout)).toBe(second)
  await git('checkout', '--quiet', document)
})

test('a clone of depth 1 has no previous version', async () => {
  const clone = join(folder, 'clone')
  await git('clone', '--quiet', '--depth', '1', `file://${checkout}`, clone)
  expect(await previousVersion(clone)).toBeUndefined()
})
