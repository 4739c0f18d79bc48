import { setTimeout as sleep } from 'node:timers/promises'
import { deadline } from '../timing/deadline.ts'
import type { Outages, PartName } from './outages.ts'

/** Asks a part for a sign of life; rejects with the reason why there is none. */
export type Probe = () => Promise<unknown>

/** How often a part is asked, and after which time without an answer it counts as silent. */
type Pace = { everyMs: number; answerTimeoutMs: number }

const usualPace: Pace = { everyMs: 1_000, answerTimeoutMs: 2_000 }

/**
 * Asks each part every second whether it answers, and tells `outages`. A failure counts only if the next attempt fails
 * too: a connection that breaks is replaced at once. Returns a function that ends it without waiting for an answer.
 */
export function watchParts(
  outages: Outages,
  probes: Partial<Record<PartName, Probe>>,
  pace: Pace = usualPace,
): () => void {
  const stopping = new AbortController()
  for (const [part, probe] of Object.entries(probes))
    void watchPart(outages, part as PartName, { probe, pace, signal: stopping.signal })
  return () => stopping.abort()
}

async function watchPart(
  outages: Outages,
  part: PartName,
  { probe, pace, signal }: { probe: Probe; pace: Pace; signal: AbortSignal },
): Promise<void> {
  const silence = new DOMException(`no answer in ${pace.answerTimeoutMs / 1_000} s`, 'TimeoutError')
  const note = (report: () => void): void => {
    if (!signal.aborted) report()
  }
  for (let failures = 0; !signal.aborted; ) {
    // Not `timeout`: it would ask again while the first question is still on its way.
    const cancel = deadline(performance.now(), pace.answerTimeoutMs, () =>
      note(() => outages.failed(part, silence)),
    )
    try {
      await probe()
      failures = 0
      note(() => outages.answered(part))
    } catch (error) {
      if (++failures > 1) note(() => outages.failed(part, error))
    }
    cancel()
    await sleep(pace.everyMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}
