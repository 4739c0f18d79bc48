import { type Postgres, readAsOfByShard } from '@tally/read-models'

const pollMs = 1_000
/** Redis follows Postgres within milliseconds; a projector that is behind may hold documents back for longer. */
const behindMs = 2_000
/** Polls that began within this time without an answer: Postgres hangs, or is down. */
const silentMs = 3_000

export type Watermarks = {
  /** Whether Redis says less of a shard than Postgres did lately: its documents are not updated any more. */
  isBehind(shard: number, asOfMs: number): boolean
  /** Whether Postgres has answered a poll lately; true before the first. */
  isPostgresUp(): boolean
  close(): void
}

/**
 * Reads the watermarks of all shards from Postgres every second. A Redis that takes no writes from the projector (full, cut
 * off from it) answers reads as before: only the comparison shows that its documents have grown old.
 */
export function watchWatermarks({
  db,
  topics,
  onFailure,
}: {
  db: Postgres
  topics: string[]
  onFailure: (error: unknown) => void
}): Watermarks {
  let known = new Map<number, number>()
  let isRunning = false
  let answeredMs = performance.now()
  const poll = async () => {
    if (isRunning) return
    isRunning = true
    try {
      known = await readAsOfByShard(db, topics)
      answeredMs = performance.now()
    } catch (error) {
      onFailure(error)
    } finally {
      isRunning = false
    }
  }
  const timer = setInterval(poll, pollMs)
  void poll()
  return {
    isBehind: (shard, asOfMs) => asOfMs + behindMs < (known.get(shard) ?? 0),
    isPostgresUp: () => performance.now() - answeredMs < silentMs,
    close: () => clearInterval(timer),
  }
}
