import { hash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'

const version = '4.3.1'
/** What Maven must bring: `sha256sum` of each jar, written when this version was chosen. */
const expected = readFileSync(join(import.meta.dirname, 'kafkaJars.sha256'), 'utf8')
  .trimEnd()
  .split('\n')
const kafkaFolder = localFolder(`kafka-${version}`)

/** The folder of Kafka's jars after `haveJars` has returned. */
export const jarsFolder = join(kafkaFolder, 'libs')

/**
 * Fetches Kafka and what it needs from Maven Central, once for a checkout. They come into a folder of another name
 * first: an interrupted download is never taken for a whole one.
 */
export async function haveJars({ log, signal }: Pick<PartSetup, 'log' | 'signal'>): Promise<void> {
  if (existsSync(jarsFolder)) return
  mkdirSync(kafkaFolder, { recursive: true })
  // Of its own: one process may start several Kafkas at once.
  const partly = mkdtempSync(join(kafkaFolder, 'libs.'))
  log(`kafka: fetching Kafka ${version} from Maven Central (${expected.length} jars, 44 MB), once`)
  const args = [
    '-B',
    '--strict-checksums',
    '-f',
    join(import.meta.dirname, 'pom.xml'),
    'dependency:copy-dependencies',
  ]
  try {
    await run('mvn', [...args, '-DincludeScope=runtime', `-DoutputDirectory=${partly}`], {
      signal,
      onLine: progress(log),
    })
    checkJars(partly)
    chmodSync(partly, 0o755)
    if (!existsSync(jarsFolder)) renameSync(partly, jarsFolder)
    log(`kafka: ${readdirSync(jarsFolder).length} jars are here`)
  } finally {
    rmSync(partly, { recursive: true, force: true })
  }
}

/** Throws if the folder does not hold exactly the jars of kafkaJars.sha256. */
export function checkJars(folder: string): void {
  const found = readdirSync(folder)
    .sort()
    .map(name => `${hash('sha256', readFileSync(join(folder, name)))}  ${name}`)
  const wrong = [
    ...found.filter(line => !expected.includes(line)),
    ...expected.filter(line => !found.includes(line)),
  ]
  if (wrong.length === 0) return
  const names = [...new Set(wrong.map(line => line.slice(66)))].join(', ')
  throw new Error(`Maven Central gave other jars than infra/local/install/kafkaJars.sha256 lists: ${names}`)
}

/** Tells of the downloads at most once in 3 s. */
function progress(log: (line: string) => void): (line: string) => void {
  let count = 0
  let saidAt = Date.now()
  return line => {
    const file = /Downloaded from .*\/([^/]+\.jar) \(([^)]*)\)/.exec(line)
    if (file === null) return
    count += 1
    if (Date.now() - saidAt < 3000) return
    saidAt = Date.now()
    log(`kafka: ${count} files, ${file[1]} (${file[2]})`)
  }
}
