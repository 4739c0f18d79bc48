/** Random numbers that depend on a seed alone; a stream for each purpose, so that one does not move another. */
export type Random = {
  /** From 0 up to, but not, 1. */
  unit: () => number
  /** A whole number, both ends included. */
  whole: (least: number, most: number) => number
  chance: (probability: number) => boolean
  /** One of a list that is not empty. */
  of: <Entry>(list: readonly Entry[]) => Entry
  /** The list in another order. */
  shuffled: <Entry>(list: readonly Entry[]) => Entry[]
  /** A UUID of version 8. */
  uuid: () => string
}

/** mulberry32 over a hash of the seed and the stream's name. */
export function randomFrom(seed: number, stream: string): Random {
  let state = hash(`${seed} ${stream}`)
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0
    let word = Math.imul(state ^ (state >>> 15), 1 | state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (least: number, most: number) => least + Math.floor(unit() * (most - least + 1))
  const of = <Entry>(list: readonly Entry[]): Entry => list[whole(0, list.length - 1)] as Entry
  const hex = (length: number) => Array.from({ length }, () => whole(0, 15).toString(16)).join('')
  return {
    unit,
    whole,
    of,
    chance: probability => unit() < probability,
    shuffled: list =>
      list
        .map(entry => ({ entry, place: unit() }))
        .sort((one, other) => one.place - other.place)
        .map(({ entry }) => entry),
    uuid: () => `${hex(8)}-${hex(4)}-8${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let word = 0x811c9dc5
  for (const byte of Buffer.from(text)) word = Math.imul(word ^ byte, 0x01000193)
  return word
}
