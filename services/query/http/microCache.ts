const lifetimeMs = 2

/** A map that is emptied 2 ms after its first entry, for what requests that arrive at about the same time share. */
export function microCache<Key, Value>(): () => Map<Key, Value> {
  let current: Map<Key, Value> | undefined
  return () => {
    if (current === undefined) {
      current = new Map()
      setTimeout(() => {
        current = undefined
      }, lifetimeMs)
    }
    return current
  }
}
