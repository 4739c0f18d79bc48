const briefMs = 2

/**
 * A map that is emptied some 2 ms after its first entry: what requests that come at nearly the same time share, and
 * nothing keeps any longer.
 */
export function briefMap<Key, Value>(): () => Map<Key, Value> {
  let shared: Map<Key, Value> | undefined
  return () => {
    if (shared === undefined) {
      shared = new Map()
      setTimeout(() => {
        shared = undefined
      }, briefMs)
    }
    return shared
  }
}
