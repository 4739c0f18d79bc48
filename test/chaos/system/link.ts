import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * A port of 127.0.0.1 in front of a server, through which connections can be cut, stalled or slowed. Each method
 * resolves once it holds.
 */
export type Link = {
  port: number
  /** Breaks all connections and refuses new ones. */
  cut: () => Promise<void>
  /** Takes connections and bytes and passes none on, as a server that hangs. */
  stall: () => Promise<void>
  /** Passes every piece on later, in both directions. */
  slow: (ms: number) => Promise<void>
  /** As if nothing had been; bytes that were kept back go on. */
  mend: () => Promise<void>
  close: () => Promise<void>
}

/** What a link is opened with, in its thread. */
export type LinkOptions = { port: number; target: number; renames?: string | undefined }
export type LinkCommand = { do: 'cut' | 'stall' | 'slow' | 'mend'; ms?: number }

/**
 * Opens a link on `port` to a server's port, in a thread of its own: the fault run counts everything again and again, and
 * while it does, nothing would pass. `renames`: a Kafka broker names its own address to its clients; in what comes back
 * from it this host (of as many letters as 127.0.0.1) and the link's port take its place, so that they come back
 * through here.
 */
export async function openLink(
  port: number,
  target: number,
  { renames }: { renames?: string } = {},
): Promise<Link> {
  const workerData: LinkOptions = { port, target, renames }
  const thread = new Worker(new URL('linkThread.ts', import.meta.url), { workerData })
  await once(thread, 'message')
  let last: Promise<unknown> = Promise.resolve()
  const command = async (given: LinkCommand): Promise<void> => {
    last = last.then(() => {
      const done = once(thread, 'message')
      thread.postMessage(given)
      return done
    })
    await last
  }
  return {
    port,
    cut: () => command({ do: 'cut' }),
    stall: () => command({ do: 'stall' }),
    slow: ms => command({ do: 'slow', ms }),
    mend: () => command({ do: 'mend' }),
    close: async () => void (await thread.terminate()),
  }
}
