/** A map that is emptied at the end of each turn of the event loop: what the requests that came together share. */
export function eachTurn<Key, Value>(): () => Map<Key, Value> {
  let shared: Map<Key, Value> | undefined
  return () => {
    if (shared === undefined) {
      shared = new Map()
      setImmediate(() => {
        shared = undefined
      })
    }
    return shared
  }
}
