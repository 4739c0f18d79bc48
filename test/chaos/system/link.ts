import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Relay } from '@tally/testkit/servers/relay'

/** A relay in a thread of its own. Each method resolves once it holds. */
export type Link = Omit<Relay, 'stall' | 'slow' | 'through'> & {
  stall: () => Promise<void>
  slow: (ms: number) => Promise<void>
}

/** What a link is opened with, in its thread. */
export type LinkOptions = { target: number; host?: string | undefined }
export type LinkCommand = { do: 'cut' | 'stall' | 'slow' | 'mend'; ms?: number }

/**
 * Opens a link to a server's port, in a thread of its own: the fault run counts everything again and again, and while
 * it does, nothing would pass. `host`: the server is a Kafka broker, which clients reach under this name
 * (kafkaAddress.ts).
 */
export async function openLink(target: number, { host }: { host?: string } = {}): Promise<Link> {
  const workerData: LinkOptions = { target, host }
  const thread = new Worker(new URL('linkThread.ts', import.meta.url), { workerData })
  const [port] = (await once(thread, 'message')) as [number]
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
