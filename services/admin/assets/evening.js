/**
 * Sorts hours as an evening: the longest time without orders lies before the first bar, so that a night past 24:00
 * continues to the right. Hours without orders in between get 0.
 */
export function eveningOf(hours) {
  if (hours.length === 0) return []
  const byHour = new Map(hours.map(bucket => [bucket.hour, bucket]))
  const known = [...byHour.keys()].sort((one, other) => one - other)
  const gaps = known.map((hour, index) => {
    const before = known[(index + known.length - 1) % known.length]
    return { hour, gap: (hour - before + 23) % 24 }
  })
  const first = gaps.reduce((widest, next) => (next.gap > widest.gap ? next : widest))
  const length = 24 - (known.length === 1 ? 23 : first.gap)
  return Array.from({ length }, (_, index) => {
    const hour = (first.hour + index) % 24
    return byHour.get(hour) ?? { hour, orderCount: 0, revenue: 0 }
  })
}
