/** Hours of an evening with those in between that have no orders. */
export const withPauses = hours =>
  hours.flatMap((bucket, index) => {
    const next = hours[index + 1] ?? { hour: bucket.hour + 1 }
    const length = (next.hour - bucket.hour + 23) % 24
    const pause = Array.from({ length }, (_, more) => ({
      hour: (bucket.hour + 1 + more) % 24,
      orderCount: 0,
    }))
    return [bucket, ...pause]
  })
