import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jarsFolder } from '../install/kafkaJars.ts'

const file = join(dirname(jarsFolder), 'classes.jsa')

/**
 * Lets Java read Kafka's classes from a file that holds them loaded and verified, so that a broker starts with 1.8 s of
 * the processor instead of 3.4 s, and the format of its folder with 0.5 s instead of 1.4 s. Java ignores a file that is
 * not there, or that another Java or other jars wrote.
 */
export const classesOption = `-XX:SharedArchiveFile=${file}`

/** Whether that file is there. */
export const hasClasses = (): boolean => existsSync(file)

/**
 * Writes the file of `classesOption` once for a checkout: Java does so when the broker that `args` start has ended,
 * which happens as soon as it answers.
 */
export async function ensureClasses(
  java: string,
  args: string[],
  { answers, signal }: { answers: () => Promise<boolean>; signal: AbortSignal | undefined },
): Promise<void> {
  if (hasClasses()) return
  const partly = `${file}.${process.pid}`
  const others = args.filter(arg => arg !== classesOption)
  const broker = spawn(java, [`-XX:ArchiveClassesAtExit=${partly}`, ...others], { stdio: 'ignore', signal })
  const ended = once(broker, 'close')
  // Awaited below; until then an abort must not count as unhandled.
  ended.catch(() => {})
  try {
    const hasEnded = () => broker.exitCode !== null || broker.signalCode !== null
    while (!hasEnded() && !(await answers().catch(() => false))) await sleep(50)
    broker.kill('SIGTERM')
    await ended
    if (existsSync(partly)) renameSync(partly, file)
  } finally {
    rmSync(partly, { force: true })
  }
}
