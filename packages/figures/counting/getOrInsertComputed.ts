/** The value of a key, which `make` provides if the map has none. Values are never undefined. */
export function getOrInsertComputed<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
