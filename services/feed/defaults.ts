/** The options of `tally feed` as the command line has them: texts, absent if not given. */
export type RawFeedOptions = {
  topicPrefix: string
  data?: string | undefined
  rate?: string | number | undefined
  speed?: string | number | undefined
  seed?: string | number | undefined
  orders?: string | number | undefined
  evenings?: string | number | undefined
  date?: string | undefined
  resume?: string | undefined
}

/** The defaults: one evening of 6,000 orders, 20 orders per second. */
export const feedDefaults = { rate: 20, seed: 1, orders: 6000, evenings: 1, date: '2026-09-04' } as const
