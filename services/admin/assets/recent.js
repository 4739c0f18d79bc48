const windowMs = 600_000
const everyMs = 10_000

/**
 * How many of each item were sold in the last 10 minutes, from what the screen itself has received: a sample of the
 * counts every 10 s. After a pause, or at the start, the window begins with the first sample that there is.
 */
export function createRecent() {
  let samples = []
  const latest = () => samples[samples.length - 1]
  return {
    /** Keeps the counts (a Map by id) as those of an instant; false if the last sample is too young. */
    sample(at, counts) {
      // The server's clock may have been set back.
      samples = samples.filter(sample => sample.at >= at - windowMs && sample.at <= at)
      if (samples.length > 0 && at - latest().at < everyMs) return false
      samples.push({ at, counts })
      return true
    },
    forget() {
      samples = []
    },
    /** Since when it counts: undefined before the first sample, null for the whole 10 minutes. */
    since() {
      if (samples.length === 0) return undefined
      return latest().at - samples[0].at > windowMs - 3 * everyMs ? null : samples[0].at
    },
    of: (id, count) => (samples.length === 0 ? 0 : count - (samples[0].counts.get(id) || 0)),
  }
}
