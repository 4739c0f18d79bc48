/** Runs work one at a time, in the order of the calls; work that fails does not stop what follows. */
export type Sequence = {
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Resolves when everything called so far has ended. */
  idle(): Promise<unknown>
}

export function openSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve()
  const idle = () => last.catch(() => undefined)
  return {
    idle,
    run(work) {
      const run = idle().then(work)
      last = run
      return run
    },
  }
}
