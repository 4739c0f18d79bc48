/** A read position in bytes. */
export type Cursor = { bytes: Buffer; at: number }

/** A signed zigzag varint; exact up to 2^53. Throws if the bytes end too early or the number is too long. */
export function readVarInt(cursor: Cursor): number {
  const { bytes } = cursor
  const first = bytes[cursor.at++]
  if (first === undefined) throw new Error('its records end too early')
  if (first < 128) return (first >>> 1) ^ -(first & 1)
  let value = first & 127
  for (let place = 128; place <= 2 ** 63; place *= 128) {
    const byte = bytes[cursor.at++]
    if (byte === undefined) throw new Error('its records end too early')
    value += (byte & 127) * place
    if (byte < 128) return value % 2 === 1 ? -(value + 1) / 2 : value / 2
  }
  throw new Error('a number without an end')
}

/** Length-prefixed bytes, or null, not copied. Throws if there are fewer. */
export function readBytes(cursor: Cursor): Buffer | null {
  const length = readVarInt(cursor)
  if (length === -1) return null
  const end = cursor.at + length
  if (length < 0 || end > cursor.bytes.length) throw new Error('a field that ends behind its record')
  const bytes = cursor.bytes.subarray(cursor.at, end)
  cursor.at = end
  return bytes
}
