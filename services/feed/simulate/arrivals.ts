import { type FestivalDay, minutesOf } from './calendar.ts'
import type { Random } from './random.ts'

/** The part of the crowd that arrives steadily; the weights of the peaks add up to about 90. */
const steadyWeight = 8

/**
 * The times (milliseconds since 1970, ascending) at which `count` guests of one day order: a Poisson process
 * whose rate follows the festival's peaks, given that `count` guests come. Nothing is stored: the k-th of n
 * sorted uniform numbers follows from the one before it, and the inverse of the crowd's distribution makes a
 * time of it.
 */
export function* arrivals(day: FestivalDay, count: number, random: Random): Generator<number> {
  const timeOf = inverseOf(crowdByMinute(day))
  let reached = 0
  for (let left = count; left > 0; left--) {
    reached = 1 - (1 - reached) * (1 - random.unit()) ** (1 / left)
    yield day.opensMs + Math.floor(timeOf(reached) * 60_000)
  }
}

/** The relative number of guests in each minute from opening to last orders. */
function crowdByMinute({ festival, opensMs, lastOrdersMs }: FestivalDay): number[] {
  const opens = minutesOf(festival.opens)
  const minutes = (lastOrdersMs - opensMs) / 60_000
  return Array.from({ length: minutes }, (_, index) => {
    const minute = opens + index + 0.5
    const bells = festival.peaks.map(({ at, spreadMinutes, weight }) => {
      const distance = (minute - minutesOf(at)) / spreadMinutes
      return (weight / spreadMinutes) * Math.exp((-distance * distance) / 2)
    })
    return bells.reduce((sum, bell) => sum + bell, steadyWeight / minutes)
  })
}

/** From a part of the crowd (0 to 1) to the minutes after opening at which that part has come. */
function inverseOf(density: readonly number[]): (part: number) => number {
  const total = density.reduce((sum, weight) => sum + weight, 0)
  // Parts come in ascending order, so the search continues at the minute at which the last one ended.
  let minute = 0
  let before = 0
  return part => {
    const wanted = part * total
    let weight = density[minute] ?? 0
    while (minute < density.length - 1 && before + weight < wanted) {
      before += weight
      minute++
      weight = density[minute] ?? 0
    }
    return minute + Math.min(0.9999, Math.max(0, (wanted - before) / weight))
  }
}
