import { mkdirSync } from 'node:fs'
import { localFolder } from '#infra/folder.ts'
import { pythonPrograms } from '#infra/install/pythonPackages.ts'
import { scanReaders } from './readers.ts'
import { notRun, scanners } from './scanners.ts'
import { type Releases, startTarget, type Target } from './system.ts'

/** What `scan` runs, by name. */
export const parts = [...scanners.map(({ name }) => name), 'readers']

/**
 * Scans the API and the administration area with tools from elsewhere, and compares the API's readers of requests for
 * `minutes`, 2 by default, with `seed`. With `only`, runs one of the parts. Prints what each found and what could not
 * run; returns the number of findings, with one for a scanner that failed.
 */
export async function scan(
  { only, minutes, seed }: { only?: string; minutes?: string; seed?: string },
  signal: AbortSignal,
): Promise<number> {
  const isWanted = (name: string) => (only ?? name) === name
  const folder = localFolder('security')
  mkdirSync(folder, { recursive: true })
  const releases: Releases = []
  try {
    const target = await startTarget(folder, signal, releases)
    let wrong = 0
    for (const scanner of scanners) if (isWanted(scanner.name)) wrong += await report(scanner, target, folder)
    if (isWanted('readers'))
      wrong += await reportReaders(target, Number(minutes ?? 2), Number(seed ?? Date.now() % 2 ** 31))
    for (const sentence of notRun) console.log(`not run: ${sentence}`)
    return wrong
  } catch (error) {
    if (!signal.aborted) console.error(error)
    return 1
  } finally {
    for (const release of releases.toReversed()) await release()
  }
}

/** Runs one scanner and prints what it found; returns the number of findings, 1 if it could not run. */
async function report(scanner: (typeof scanners)[number], target: Target, folder: string): Promise<number> {
  const began = performance.now()
  try {
    const found = await scanner.scan(target, await pythonPrograms([scanner.package], console.error), folder)
    const took = ((performance.now() - began) / 1_000).toFixed(0)
    console.log(`${scanner.package} (${took} s): ${scanner.about}: ${found.length} findings`)
    for (const line of found) console.log(`  ${line.trim()}`)
    return found.length
  } catch (error) {
    console.log(`${scanner.package}: could not run: ${error instanceof Error ? error.message : error}`)
    return 1
  }
}

/** Prints what differs between the API's readers of requests; returns 1 if anything does. */
async function reportReaders(target: Target, minutes: number, seed: number): Promise<number> {
  const { conversations, found } = await scanReaders(target, { seed, minutes })
  const what = `readers (${minutes} min, --seed ${seed}): the same bytes in all kinds of segments`
  console.log(
    `${what}: ${found.length === 0 ? `${conversations} conversations, no difference` : 'a difference'}`,
  )
  for (const line of found) console.log(`  ${line}`)
  return found.length === 0 ? 0 : 1
}
