import type { Bench } from './bench.ts'
import type { Measured, Unit } from './row.ts'

/** What one measurement brings, by name: a rate, a median, a p99. */
export type Sample = Record<string, number>

/** Who is measured, by name; called once a round. */
export type Contenders = Record<string, () => Promise<Sample>>

/** The samples of all counted rounds, by contender. */
export type Samples<Names extends Contenders> = Record<keyof Names, Sample[]>

/** Measures all contenders in turn (A B A B) for `rounds`, after a warm-up: a slower machine affects all alike. */
export async function alternate<Names extends Contenders>(
  { options, log, signal }: Bench,
  row: string,
  contenders: Names,
): Promise<Samples<Names>> {
  const samples = Object.fromEntries(
    Object.keys(contenders).map(name => [name, []]),
  ) as unknown as Samples<Names>
  for (let round = 0; round <= options.rounds; round++) {
    for (const [name, measure] of Object.entries(contenders)) {
      signal.throwIfAborted()
      const sample = await measure()
      if (!Object.values(sample).every(Number.isFinite))
        throw new Error(`${name} measured something that is not a number: ${JSON.stringify(sample)}`)
      const figures = Object.entries(sample).map(([what, value]) => `${what} ${value.toPrecision(4)}`)
      log(`${row}, ${round === 0 ? 'warm-up' : `round ${round}`}: ${name}: ${figures.join(', ')}`)
      if (round > 0) samples[name as keyof Names].push(sample)
    }
  }
  return samples
}

/** One figure of a contender's samples, with its name in the table. */
export function measured(samples: Sample[], figure: string, what: string, unit: Unit): Measured {
  return { what, unit, rounds: samples.map(sample => sample[figure] ?? Number.NaN) }
}
