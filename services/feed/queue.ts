import TinyQueue from 'tinyqueue'

/** Entries sorted by time; those of the same time leave in the order they were added. */
export type Queue<Entry> = {
  add: (atMs: number, entry: Entry) => void
  /** Removes the earliest entry; undefined if the queue is empty. */
  take: () => { atMs: number; entry: Entry } | undefined
  size: () => number
}

/** A heap: an evening of any size needs memory only for the orders that are open at one time. */
export function emptyQueue<Entry>(): Queue<Entry> {
  type Node = { atMs: number; order: number; entry: Entry }
  const heap = new TinyQueue<Node>([], (a, b) => a.atMs - b.atMs || a.order - b.order)
  let added = 0
  return {
    add: (atMs, entry) => heap.push({ atMs, order: added++, entry }),
    take: () => heap.pop(),
    size: () => heap.length,
  }
}
