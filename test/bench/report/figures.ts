/** The middle one; of an even number the mean of the two in the middle. Throws for none. */
export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  if (upper === undefined || lower === undefined) throw new Error('no median of nothing')
  return (upper + lower) / 2
}

/** The smallest value that at least this share of all (0 to 1) does not exceed. Throws for none. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const found = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (found === undefined) throw new Error('no percentile of nothing')
  return found
}

/** The median of the ratios of each round: a machine that gets slower in the middle slows both of a round. */
export function medianRatio(ours: number[], theirs: number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
}
