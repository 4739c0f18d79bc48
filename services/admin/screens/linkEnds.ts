import { date, offsetIn } from '@tally/contract'

const dayMs = 86_400_000
/** The longest that a link works (docs/security.md, Sessions): longer than a festival. */
const longestMs = 30 * dayMs
/** An evening runs past midnight: a link that is for a day ends at noon of the next one. */
const noonMs = dayMs / 2

/** How long a link may work, as the form offers it; `date` is until the end of a day that is typed. */
export const validities: Record<string, { name: string; ms: number | undefined }> = {
  day: { name: '1 day', ms: dayMs },
  week: { name: '7 days', ms: 7 * dayMs },
  month: { name: '30 days', ms: longestMs },
  date: { name: 'Until the end of a day, such as the last of the festival', ms: undefined },
}

/** When a link ends, or what is wrong with the choice. Nights belong to the day before, on the event's clock. */
export function linkEnd(
  { validity, lastDay }: { validity: string; lastDay: string },
  timeZone: string,
  nowMs: number,
): { endsAt: number } | { field: 'validity' | 'lastDay'; mistake: string } {
  const chosen = Object.hasOwn(validities, validity) ? validities[validity] : undefined
  if (chosen === undefined) return { field: 'validity', mistake: 'Choose how long the link is valid.' }
  if (chosen.ms !== undefined) return { endsAt: nowMs + chosen.ms }
  const parsed = date.safeParse(lastDay)
  if (!parsed.success) return { field: 'lastDay', mistake: 'Enter the last day.' }
  const noon = Date.parse(parsed.data) + dayMs + noonMs
  const endsAt = noon - offsetIn(timeZone)(noon)
  if (endsAt <= nowMs) return { field: 'lastDay', mistake: 'Enter a day that is not over.' }
  if (endsAt > nowMs + longestMs)
    return { field: 'lastDay', mistake: 'A link is valid for at most 30 days. Enter an earlier day.' }
  return { endsAt }
}
