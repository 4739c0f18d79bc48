import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { localFolder } from '../folder.ts'
import { unpackedProgram } from './unpacked.ts'

/** docs/security.md, Supply chain. An apt-get and a dpkg-deb of the test's own write down when they were called. */
const debianPackage = `tally-test-${process.pid}`
let folder: string
const note = (line: string) => writeFileSync(join(folder, 'happened'), `${line}\n`, { flag: 'a' })
const happened = () => readFileSync(join(folder, 'happened'), 'utf8')

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-unpacked-'))
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
  rmSync(localFolder(join('debian', debianPackage)), { recursive: true, force: true })
})

const program = (name: string, script: string) =>
  writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >> "${folder}/happened"\n${script}\n`, {
    mode: 0o755,
  })

test('a package is announced before apt-get runs, unpacked once and not installed', async () => {
  program('apt-get', `case "$*" in *download*) touch some.deb ;; *) exit 1 ;; esac`)
  program('dpkg-deb', `mkdir -p "$3/usr/bin" && touch "$3/usr/bin/tally-program"`)
  const path = await unpackedProgram('tally-program', debianPackage, note)
  expect(path).toBe(join(localFolder('debian'), debianPackage, 'usr/bin/tally-program'))
  expect(await unpackedProgram('tally-program', debianPackage, note)).toBe(path)
  expect(happened()).toMatch(
    /^tally-program is missing: unpacking Debian's package tally-test-\d+ into .*\napt-get\ndpkg-deb\n$/,
  )
})

test('a package that cannot be had is named, and so is what to do', async () => {
  program('apt-get', 'exit 100')
  await expect(unpackedProgram('tally-program', debianPackage, note)).rejects.toThrow(
    /^install the package tally-test-\d+, or put tally-program on the PATH: apt-get .* failed/,
  )
})
