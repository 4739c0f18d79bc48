import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../command.ts'
import { localFolder } from '../folder.ts'
import type { PartSetup } from '../servers/part.ts'

const version = '4.3.1'
const jarCount = 46
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
  log(`kafka: fetching Kafka ${version} from Maven Central (${jarCount} jars, 44 MB), once`)
  const args = ['-B', '-f', join(import.meta.dirname, 'pom.xml'), 'dependency:copy-dependencies']
  try {
    await run('mvn', [...args, '-DincludeScope=runtime', `-DoutputDirectory=${partly}`], {
      signal,
      onLine: progress(log),
    })
    chmodSync(partly, 0o755)
    if (!existsSync(jarsFolder)) renameSync(partly, jarsFolder)
    log(`kafka: ${readdirSync(jarsFolder).length} jars are here`)
  } finally {
    rmSync(partly, { recursive: true, force: true })
  }
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
