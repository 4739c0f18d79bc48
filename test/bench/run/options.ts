import { parseArgs } from 'node:util'

export const help = `npm run bench [-- options]
  Measures Tally against its ceilings, side by side on servers of its own, and checks all answers before it prints a figure.
  A table on stdout; JSON and a chart (SVG) in .local/bench/. Exit 1 if an answer was wrong, not if a goal was missed.

  --only ROWS    some rows, comma-separated; --list names them, and those that run only if named
  --rounds N     counted rounds of each row (5; fewer are for trying out)
  --orders N     orders of the usual data set (200,000); the other sizes follow it
  --seconds N    length of one load on an endpoint (5)
  --large        scale, growth and memory at ten times --orders (2,000,000), instead of twice (400,000), and projector at both
  --seed N       makes the same data as another run (20260904)
  --list         names the rows and ends
`

/** What a run of the bench is to do. */
export type Options = {
  /** Names of rows; empty means all. */
  only: string[]
  rounds: number
  orders: number
  seconds: number
  large: boolean
  seed: number
}

/** Reads the command line; throws an error with a sentence for one that makes no sense. */
export function readOptions(args: string[]): Options | 'help' | 'list' {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    only: text,
    rounds: text,
    orders: text,
    seconds: text,
    seed: text,
    large: flag,
    list: flag,
    help: flag,
  }
  const { values } = parseArgs({ args, options })
  if (values.help) return 'help'
  if (values.list) return 'list'
  const number = (name: 'rounds' | 'orders' | 'seconds' | 'seed', fallback: number) => {
    const given = values[name] ?? String(fallback)
    if (!/^[1-9]\d{0,8}$/.test(given)) throw new Error(`--${name} takes a whole number from 1, not ${given}`)
    return Number(given)
  }
  return {
    only: values.only?.split(',').filter(name => name !== '') ?? [],
    rounds: number('rounds', 5),
    orders: number('orders', 200_000),
    seconds: number('seconds', 5),
    seed: number('seed', 20260904),
    large: values.large ?? false,
  }
}
