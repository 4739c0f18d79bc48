import { setTimeout as sleep } from 'node:timers/promises'

/** Long enough to see in a few polls that Tally answers without it. */
const defaultWaitMs = 5_000

/** How often in a minute a part may end by itself; one that ends more often is not mended by starting it again. */
const mostEnds = 3
const withinMs = 60_000

type Watch = {
  log: (line: string) => void
  /** Called if a part cannot be started again, or ends again and again. */
  giveUp: (error: Error) => void
  signal: AbortSignal
  waitMs?: number
}

/**
 * Returns what is called when a part has ended by itself, with a sentence that begins with the part's name, and what
 * starts it again (false: it ended before it was ready): it says so, starts it a while later, and says when it runs.
 */
export function createStartAgain({ log, giveUp, signal, waitMs = defaultWaitMs }: Watch) {
  const ends = new Map<string, number[]>()
  return async (message: string, start: () => Promise<unknown>): Promise<void> => {
    if (signal.aborted) return
    const name = message.slice(0, message.indexOf(' '))
    const at = Date.now()
    const recent = [...(ends.get(name) ?? []), at].filter(before => before > at - withinMs)
    ends.set(name, recent)
    if (recent.length > mostEnds) return giveUp(new Error(`${message}\n${name} ends again and again`))
    log(`${message}\nStarting ${name} again in ${waitMs / 1000} s ...`)
    try {
      await sleep(waitMs, undefined, { signal })
      if ((await start()) !== false) log(`${name} runs again (${((Date.now() - at) / 1000).toFixed(1)} s)`)
    } catch (error) {
      if (!signal.aborted) giveUp(error as Error)
    }
  }
}
