/** A stream of random numbers that depends only on its seed text: the same text gives the same evening. */
export type Random = {
  /** From 0 up to, but not, 1. */
  unit: () => number
  /** A whole number, both ends included. */
  whole: (least: number, most: number) => number
  /** True in `probability` of all cases. */
  chance: (probability: number) => boolean
  /** One of the entries, each as often as its weight says. */
  pick: <Entry extends { weight: number }>(entries: readonly Entry[]) => Entry
}

/** sfc32 (small fast counter, 128 bits of state), seeded with a text. Math.random takes no seed. */
export function randomFrom(seedText: string): Random {
  const unit = sfc32(hash128(seedText))
  const whole = (least: number, most: number) => least + Math.floor(unit() * (most - least + 1))
  return {
    unit,
    whole,
    chance: probability => unit() < probability,
    pick: entries => {
      let left = unit() * entries.reduce((sum, { weight }) => sum + weight, 0)
      for (const entry of entries) {
        left -= entry.weight
        if (left < 0) return entry
      }
      return entries.at(-1) as (typeof entries)[number]
    },
  }
}

/** A UUID (version 8: made by rules of our own) that depends only on its seed text. */
export function uuidFrom(seedText: string): string {
  const hex = hash128(seedText)
    .map(word => word.toString(16).padStart(8, '0'))
    .join('')
  const variant = '89ab'[parseInt(hex[16] ?? '0', 16) % 4]
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ]
  return parts.join('-')
}

type Words = [number, number, number, number]

function sfc32([a, b, c, counter]: Words): () => number {
  const next = () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  // The first numbers are correlated with the seed: seeds 1 and 2 would begin alike.
  for (let round = 0; round < 15; round++) next()
  return next
}

/** Four FNV-1a hashes from different bases, each mixed at its end. Not cryptographic. */
function hash128(text: string): Words {
  const word = (basis: number) => {
    let hash = basis
    for (let index = 0; index < text.length; index++)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return (hash ^ (hash >>> 16)) >>> 0
  }
  return [word(0x811c9dc5), word(0x9e3779b9), word(0x243f6a88), word(0xb7e15162)]
}
