import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { ensureMavenJars } from '#infra/install/mavenJars.ts'

/** docs/security.md, Supply chain: the real Maven, and a repository of the test's own. */
const folder = mkdtempSync(join(tmpdir(), 'tally-maven-'))
const group = 'tally-checksums'
afterAll(() => {
  for (const path of [folder, join(homedir(), '.m2/repository', group)])
    rmSync(path, { recursive: true, force: true })
})

const project = (artifact: string, more = '') =>
  `<project><modelVersion>4.0.0</modelVersion><groupId>${group}</groupId><artifactId>${artifact}</artifactId>` +
  `<version>1</version><packaging>jar</packaging>${more}</project>`

/** Publishes a jar with the checksum of `summed`, and returns what fetches it. */
function published(artifact: string, content: string, summed: string) {
  const repository = join(folder, 'repository')
  const place = join(repository, group, artifact, '1')
  mkdirSync(place, { recursive: true })
  const files = { [`${artifact}-1.pom`]: [project(artifact)], [`${artifact}-1.jar`]: [content, summed] }
  for (const [name, [text = '', sumOf = text]] of Object.entries(files)) {
    writeFileSync(join(place, name), text)
    writeFileSync(join(place, `${name}.sha1`), hash('sha1', sumOf))
  }
  const plugin =
    '<plugin><groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.9.0</version></plugin>'
  const dependency = `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>1</version></dependency>`
  const source = `<repository><id>test</id><url>${pathToFileURL(repository)}</url></repository>`
  const parts = { build: `<plugins>${plugin}</plugins>`, dependencies: dependency, repositories: source }
  const tags = Object.entries(parts).map(([tag, text]) => `<${tag}>${text}</${tag}>`)
  const pom = join(folder, `${artifact}.xml`)
  writeFileSync(pom, project(`for-${artifact}`, tags.join('')))
  const sumsFile = join(folder, `${artifact}.sha256`)
  writeFileSync(sumsFile, `${hash('sha256', content)}  ${artifact}-1.jar\n`)
  return { name: 'test', title: artifact, pom, sumsFile, folder: join(folder, artifact) }
}
const setup = { log: () => {}, signal: undefined }

test('Maven refuses a jar that has another checksum than its repository says, and takes one that has it', async () => {
  const good = published('good', 'a jar', 'a jar')
  await ensureMavenJars(good, setup)
  expect(existsSync(join(good.folder, 'good-1.jar'))).toBe(true)
  const bad = published('bad', 'a jar', 'another jar')
  await expect(ensureMavenJars(bad, setup)).rejects.toThrow(/[Cc]hecksum validation failed/)
  expect(existsSync(bad.folder)).toBe(false)
})
