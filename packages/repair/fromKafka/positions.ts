import { partitionKey } from '@tally/kafka'
import type { StoredOffset } from '@tally/offsets'

/**
 * How far the shadow has read each partition, and how far it must. The target of a partition follows the offset of the
 * live tables (`follow`), except while it is held for a switch (`hold`): then the live projector waits at exactly this
 * offset.
 */
export type Positions = ReturnType<typeof createPositions>

/** `partitions`: the keys of all; `stored`: what the shadow has applied. */
export function createPositions(partitions: string[], stored: StoredOffset[]) {
  const targets = new Map<string, number>()
  const applied = new Map(stored.map(offset => [partitionKey(offset), offset.nextOffset]))
  const held = new Set<string>()

  const target = (key: string) => targets.get(key) ?? 0
  const left = (key: string) => Math.max(0, target(key) - (applied.get(key) ?? 0))
  const behind = () => partitions.reduce((sum, key) => sum + left(key), 0)

  return {
    target,
    left,
    behind,
    position() {
      const done = partitions.reduce((sum, key) => sum + (applied.get(key) ?? 0), 0)
      return { done, all: done + behind() }
    },
    applied(key: string, next: number): void {
      applied.set(key, next)
    },
    follow(live: Map<string, number>): void {
      for (const [key, offset] of live) if (!held.has(key)) targets.set(key, offset)
    },
    hold(wanted: Map<string, number>): void {
      for (const [key, offset] of wanted) {
        held.add(key)
        targets.set(key, offset)
      }
    },
    release: () => held.clear(),
  }
}
