import type { Rules } from './allowed.ts'
import type { Wrongs } from './wrong.ts'

/** The highest value so far, and the question that returned it. */
type Latest = { value: number; from: string }

/** One number of an answer: of an event, from one query process. */
export type SaidNumber = { what: string; process: string; value: number; where: string }

/** Remembers the highest of each number; none may go back in one process. */
export function openNeverBack(rules: Rules, wrongs: Wrongs) {
  const latest = new Map<string, Latest>()
  let acrossProcesses = 0
  const keysOf = (what: string, process: string) => [`${what} at ${process}`, what] as const
  return {
    /** The values known when a question was asked: later ones may be newer than its answer. */
    before: (whats: string[], process: string) =>
      new Map(whats.flatMap(what => keysOf(what, process)).map(key => [key, latest.get(key)])),

    check(
      { what, process, value, where }: SaidNumber,
      before: Map<string, Latest | undefined>,
      askedMs: number,
    ) {
      const [own, any] = keysOf(what, process)
      const known = before.get(own)
      const mayGoBack = rules.mayGoBack(askedMs)
      if (known !== undefined && value < known.value && !mayGoBack)
        wrongs.add(
          'a view never goes back',
          `${where}: ${what} was ${known.value} (${known.from}), is ${value}`,
        )
      else if (value < (before.get(any)?.value ?? 0)) acrossProcesses++
      for (const key of [own, any]) {
        if (mayGoBack || value >= (latest.get(key)?.value ?? 0)) latest.set(key, { value, from: where })
      }
    },
    acrossProcesses: () => acrossProcesses,
  }
}
