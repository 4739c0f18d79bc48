import { type Panel, p50AndP99, quantile, rate } from './query.ts'

/** Rate, errors and duration of the API's requests, and what they wait for. */
export const requests: Panel[] = [
  {
    title: 'Requests by endpoint',
    unit: 'reqps',
    queries: [{ expr: `sum by (endpoint) (${rate('tally_query_requests_total')})`, legend: '{{endpoint}}' }],
  },
  {
    title: 'Failed requests (5xx) by endpoint',
    unit: 'reqps',
    queries: [
      {
        expr: `sum by (endpoint) (${rate('tally_query_requests_total', 'status=~"5.."')})`,
        legend: '{{endpoint}}',
      },
    ],
  },
  {
    title: 'Time to answer by endpoint, p99',
    description: 'The objective is 20 ms.',
    unit: 's',
    queries: [
      {
        expr: quantile(0.99, 'tally_query_request_seconds', 'endpoint', 'outcome="answered"'),
        legend: '{{endpoint}}',
      },
    ],
  },
  {
    title: 'Answers by status',
    unit: 'reqps',
    queries: [{ expr: `sum by (status) (${rate('tally_query_requests_total')})`, legend: '{{status}}' }],
  },
  {
    title: 'Where answers come from',
    description: 'From Postgres, if Redis is down or behind.',
    unit: 'ops',
    queries: [{ expr: `sum by (source) (${rate('tally_query_source_total')})`, legend: '{{source}}' }],
  },
  {
    title: 'Requests in flight',
    unit: 'short',
    queries: [
      { expr: `sum by (instance) (${rate('tally_query_request_seconds_sum')})`, legend: '{{instance}}' },
    ],
  },
  {
    title: 'Requests per round trip to Redis',
    unit: 'short',
    queries: p50AndP99('tally_query_batch_requests'),
  },
  {
    title: 'Connections closed for want of room',
    unit: 'cps',
    queries: [
      {
        expr: `sum by (instance) (${rate('tally_query_dropped_connections_total')})`,
        legend: '{{instance}}',
      },
    ],
  },
]
