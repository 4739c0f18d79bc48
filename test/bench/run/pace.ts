import { setTimeout as sleep } from 'node:timers/promises'

/** Calls `send` with the numbers due, from `first` to before `end`, `perSecond`, until `total` or the signal aborts. */
export async function atPace(
  perSecond: number,
  {
    everyMs = 1,
    total = Number.POSITIVE_INFINITY,
    signal,
  }: { everyMs?: number; total?: number; signal?: AbortSignal },
  send: (first: number, end: number) => void,
): Promise<void> {
  const began = performance.now()
  for (let sent = 0; sent < total && !signal?.aborted; await sleep(everyMs)) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * perSecond) / 1000))
    if (due > sent) send(sent, due)
    sent = due
  }
}
