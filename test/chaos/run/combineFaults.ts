import type { Fault } from './fault.ts'

const weakest = ['everything', 'no-orders', 'nothing'] as const

/** Several faults at the same time, as one: it allows what any of them allows, and has the longest time to recover. */
export function combineFaults(...kinds: Fault[]): Fault {
  const longest = (pick: (kind: Fault) => number | undefined) =>
    kinds
      .map(pick)
      .filter(ms => ms !== undefined)
      .toSorted((one, other) => other - one)[0]
  const recoverTimeoutMs = longest(kind => kind.recoverTimeoutMs)
  const listsTimeoutMs = longest(kind => kind.listsTimeoutMs)
  return {
    name: kinds.map(({ name }) => name).join('; '),
    allows: weakest[Math.max(...kinds.map(({ allows }) => weakest.indexOf(allows)))] ?? 'nothing',
    mayGoBack: kinds.some(({ mayGoBack = false }) => mayGoBack),
    ...(recoverTimeoutMs !== undefined && { recoverTimeoutMs }),
    ...(listsTimeoutMs !== undefined && { listsTimeoutMs }),
    async prepare(system) {
      for (const { prepare } of kinds) await prepare?.(system)
    },
    async run(...given) {
      await Promise.all(kinds.map(({ run }) => run(...given)))
    },
  }
}
