const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const factor = 60

/** The rules with every duration divided by 60: an alert about an hour fires within a minute. Thresholds stay. */
export const scaled = (rules: string): string =>
  rules.replaceAll(
    /(\[|for: |offset |(?<=\dh):)(\d+)([smhd])/g,
    (_, before, count, unit) =>
      `${before}${(Number(count) * unitMs[unit as keyof typeof unitMs]) / factor}ms`,
  )
