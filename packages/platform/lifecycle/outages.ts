import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../log/logger.ts'
import { deadline } from '../timing.ts'
import { isUnreachable, type partNames, reasonOf } from './errors.ts'

export type PartName = (typeof partNames)[keyof typeof partNames]

/** What a process does while one part does not answer and the others do, as a sentence for the log. */
export type Meanwhile = Partial<Record<PartName, string>>

/** Which parts do not answer, in the log and for /readyz. */
export type Outages = {
  /** The part does not answer. Logs that at once, later a more telling reason, and a reminder every minute. */
  failed(part: PartName, error: unknown): void
  /** The part answers. Logs that if it did not before, with how long. */
  answered(part: PartName): void
  /** For /readyz: `waiting for Redis (connect ECONNREFUSED 127.0.0.1:6379)`; undefined if all parts answer. */
  missing(): string | undefined
}

type Outage = { sinceMs: number; loggedMs: number; reason: string; reasons: Set<string>; telling: number }

const remindEveryMs = 60_000

export function createOutages(
  logger: Pick<Logger, 'warn' | 'info' | 'debug'>,
  meanwhile: Meanwhile,
  nowMs: () => number = () => performance.now(),
): Outages {
  const outages = new Map<PartName, Outage>()
  const seconds = ({ sinceMs }: Outage): number => Math.round((nowMs() - sinceMs) / 1_000)

  const warn = (part: PartName, outage: Outage, sentence: string): void => {
    outage.loggedMs = nowMs()
    const others = [...outages.keys()].filter(one => one !== part).map(one => `Nor does ${one}`)
    const sentences = others.length === 0 ? [sentence, meanwhile[part]] : [sentence, ...others]
    logger.warn({ part, reason: outage.reason }, sentences.filter(Boolean).join('. '))
  }

  const begin = (part: PartName, reason: string, error: unknown): void => {
    const now = nowMs()
    const reasons = new Set([reason])
    const outage = { sinceMs: now, loggedMs: now, reason, reasons, telling: tellingOf(error) }
    outages.set(part, outage)
    warn(part, outage, `${part} does not answer (${reason})`)
  }

  return {
    failed(part, error) {
      logger.debug({ err: error, part }, 'a part does not answer')
      const reason = reasonOf(error)
      const outage = outages.get(part)
      if (outage === undefined) return begin(part, reason, error)
      const telling = tellingOf(error)
      const isNews = telling > outage.telling || (telling === mostTelling && !outage.reasons.has(reason))
      outage.reason = reason
      if (!isNews && nowMs() - outage.loggedMs < remindEveryMs) return
      outage.reasons.add(reason)
      outage.telling = Math.max(telling, outage.telling)
      const how = seconds(outage) < 1 ? 'does not answer' : `has not answered for ${seconds(outage)} s`
      warn(part, outage, `${part} ${how} (${reason})`)
    },
    answered(part) {
      const outage = outages.get(part)
      if (outage === undefined) return
      outages.delete(part)
      const after = seconds(outage) < 1 ? 'less than 1 s' : `${seconds(outage)} s`
      logger.info({ part, seconds: seconds(outage) }, `${part} answers again, after ${after}`)
    },
    missing: () =>
      outages.size === 0
        ? undefined
        : `waiting for ${[...outages].map(([part, { reason }]) => `${part} (${reason})`).join(' and ')}`,
  }
}

const mostTelling = 2

/** How much an error tells about why: silence the least, then a broken connection, a refusal by the part the most. */
function tellingOf(error: unknown): number {
  if (!isUnreachable(error)) return mostTelling
  return error instanceof Error && error.name === 'TimeoutError' ? 0 : 1
}

/** Asks a part for a sign of life; rejects with the reason why there is none. */
type Probe = () => Promise<unknown>

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
