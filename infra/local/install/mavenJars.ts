import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { run } from '../command.ts'
import type { PartSetup } from '../servers/part.ts'
import { makeFolder } from './makeFolder.ts'

/** Files that a pom names, and where they belong. */
export type MavenJars = {
  /** The first word of each line of progress. */
  name: string
  /** What is fetched, for people: name and version. */
  title: string
  /** The pom whose dependencies are fetched. */
  pom: string
  /** What Maven must bring: the output of `sha256sum`, written when the version was chosen. */
  sumsFile: string
  /** The folder that holds the files after `ensureMavenJars` has returned. */
  folder: string
}

/** Fetches jars from Maven Central, once for a checkout. */
export async function ensureMavenJars(
  jars: MavenJars,
  { log, signal }: Pick<PartSetup, 'log' | 'signal'>,
): Promise<void> {
  const { name, title, pom, folder } = jars
  if (existsSync(folder)) return
  log(`${name}: fetching ${title} from Maven Central (${sumsOf(jars).length} files), once`)
  const args = ['-B', '--strict-checksums', '-f', pom, 'dependency:copy-dependencies']
  await makeFolder(folder, async partly => {
    await run('mvn', [...args, '-DincludeScope=runtime', `-DoutputDirectory=${partly}`], {
      signal,
      onLine: progress(name, log),
    })
    checkJars(jars, partly)
  })
  log(`${name}: ${readdirSync(folder).length} files are here`)
}

const sumsOf = ({ sumsFile }: MavenJars): string[] => readFileSync(sumsFile, 'utf8').trimEnd().split('\n')

/** Throws if the folder does not hold exactly the files of the list. */
export function checkJars(jars: MavenJars, folder: string): void {
  const expected = sumsOf(jars)
  const found = readdirSync(folder)
    .sort()
    .map(name => `${hash('sha256', readFileSync(`${folder}/${name}`))}  ${name}`)
  const wrong = [
    ...found.filter(line => !expected.includes(line)),
    ...expected.filter(line => !found.includes(line)),
  ]
  if (wrong.length === 0) return
  const names = [...new Set(wrong.map(line => line.slice(66)))].join(', ')
  throw new Error(
    `Maven Central gave other jars than infra/local/install/${basename(jars.sumsFile)} lists: ${names}`,
  )
}

/** Tells of the downloads at most once in 3 s. */
function progress(name: string, log: (line: string) => void): (line: string) => void {
  let count = 0
  let saidAt = Date.now()
  return line => {
    const file = /Downloaded from .*\/([^/]+\.(?:jar|gz)) \(([^)]*)\)/.exec(line)
    if (file === null) return
    count += 1
    if (Date.now() - saidAt < 3000) return
    saidAt = Date.now()
    log(`${name}: ${count} files, ${file[1]} (${file[2]})`)
  }
}
