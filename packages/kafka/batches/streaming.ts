/** Each may take 128 MiB: the largest window of Zstandard. */
const maxStreams = 2

let running = 0
const waiting: (() => void)[] = []

/** Waits until this process may unpack one more batch as a stream. Returns a function to call when it is done. */
export async function streaming(): Promise<() => void> {
  if (running < maxStreams) running++
  else await new Promise<void>(resolve => waiting.push(resolve))
  return () => {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}
