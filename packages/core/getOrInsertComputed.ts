/** The value of a key; where there is none, the one that `make` gives, which then is the key's. Values are never undefined. */
export function getOrInsertComputed<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
