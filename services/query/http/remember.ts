/** Keeps the last result: thousands of answers per second carry the same timestamps. */
export function rememberLast(format: (at: number) => string): (at: number) => string {
  let last = Number.NaN
  let text = ''
  return at => {
    if (at !== last) text = format(at)
    last = at
    return text
  }
}

/** How many results `rememberFew` keeps: more than the shards that a process answers from at a time. */
const few = 256

/** Keeps the results of the last few arguments: answers of each shard carry its own watermark. */
export function rememberFew(format: (at: number) => string): (at: number) => string {
  const texts = new Map<number, string>()
  return at => {
    let text = texts.get(at)
    if (text === undefined) {
      if (texts.size >= few) texts.clear()
      text = format(at)
      texts.set(at, text)
    }
    return text
  }
}
