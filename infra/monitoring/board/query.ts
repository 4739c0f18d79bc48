/** A panel of the board: `unit` is one of Grafana's, and a query an expression with the legend of its series. */
export type Panel = {
  title: string
  description?: string
  unit: string
  queries: { expr: string; legend: string }[]
}

/** The installations that the board's variable chooses. */
export const tally = 'namespace=~"$namespace"'

/** The rate per second of a counter. */
export const rate = (metric: string, matchers = '') =>
  `rate(${metric}{${[tally, matchers].filter(Boolean).join(',')}}[$__rate_interval])`

/** A quantile of a histogram; `by` is a label to keep. */
export const quantile = (q: number, metric: string, by = '', matchers = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (${rate(`${metric}_bucket`, matchers)}))`

export const p50AndP99 = (metric: string) =>
  [0.5, 0.99].map(q => ({ expr: quantile(q, metric), legend: `p${q * 100}` }))
