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
