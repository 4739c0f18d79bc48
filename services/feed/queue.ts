/** Entries sorted by time; those of the same time leave in the order they were added. */
export type Queue<Entry> = {
  add: (atMs: number, entry: Entry) => void
  /** Removes the earliest entry; undefined if the queue is empty. */
  take: () => { atMs: number; entry: Entry } | undefined
  size: () => number
}

/** A binary heap: an evening of any size needs memory only for the orders that are open at one time. */
export function emptyQueue<Entry>(): Queue<Entry> {
  type Node = { atMs: number; order: number; entry: Entry }
  const heap: Node[] = []
  let added = 0

  const at = (index: number) => heap[index] as Node
  const isSooner = (a: Node, b: Node) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)

  function rise(node: Node) {
    let index = heap.length
    heap.push(node)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isSooner(node, at(parent))) break
      heap[index] = at(parent)
      index = parent
    }
    heap[index] = node
  }

  function sinkFromTop(node: Node) {
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isSooner(at(child + 1), at(child))) child++
      if (!isSooner(at(child), node)) break
      heap[index] = at(child)
      index = child
    }
    heap[index] = node
  }

  return {
    add: (atMs, entry) => rise({ atMs, order: added++, entry }),
    take: () => {
      const top = heap[0]
      const last = heap.pop()
      if (top === undefined || last === undefined) return undefined
      if (heap.length > 0) sinkFromTop(last)
      return { atMs: top.atMs, entry: top.entry }
    },
    size: () => heap.length,
  }
}
