import { type Panel, rate, tally } from './query.ts'

/** What each process uses. */
export const processes: Panel[] = [
  {
    title: 'Processes by version',
    unit: 'short',
    queries: [
      {
        expr: `count by (process, version) (tally_build_info{${tally}})`,
        legend: '{{process}} {{version}}',
      },
    ],
  },
  {
    title: "Delay of the event loop, p99 (an idle one's is 11 ms)",
    unit: 's',
    queries: [
      {
        expr: `max by (process, instance) (nodejs_eventloop_lag_p99_seconds * on (job, instance) group_left (process) tally_build_info{${tally}})`,
        legend: '{{process}} {{instance}}',
      },
    ],
  },
  {
    title: 'Processor time',
    description: 'At 1 a process is busy all the time.',
    unit: 'percentunit',
    queries: [
      {
        expr: `sum by (process, instance) (${rate('process_cpu_seconds_total')} * on (job, instance) group_left (process) tally_build_info{${tally}})`,
        legend: '{{process}} {{instance}}',
      },
    ],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    queries: [
      {
        expr: `sum by (process, instance) (process_resident_memory_bytes * on (job, instance) group_left (process) tally_build_info{${tally}})`,
        legend: '{{process}} {{instance}}',
      },
    ],
  },
  {
    title: 'Connections to Postgres in use, of those that a pool may open',
    unit: 'percentunit',
    queries: [
      {
        expr: `sum by (pool) (tally_postgres_connections{${tally},state="used"}) / sum by (pool) (tally_postgres_connection_limit{${tally}})`,
        legend: '{{pool}}',
      },
    ],
  },
  {
    title: 'Callers that wait for a connection to Postgres',
    unit: 'short',
    queries: [
      {
        expr: `sum by (pool) (tally_postgres_connections{${tally},state="waiting"})`,
        legend: '{{pool}}',
      },
    ],
  },
  {
    title: 'Failed calls',
    unit: 'ops',
    queries: [
      { expr: `sum by (part) (${rate('tally_projector_failures_total')})`, legend: 'projector: {{part}}' },
      { expr: `sum(${rate('tally_query_failures_total')})`, legend: 'query: Redis or Postgres' },
    ],
  },
  {
    title: 'Redis refuses writes',
    unit: 'bool_yes_no',
    queries: [
      { expr: `max(tally_projector_redis_refuses_writes{${tally}})`, legend: 'projector' },
      { expr: `max(tally_query_redis_refuses_writes{${tally}})`, legend: 'query' },
    ],
  },
  {
    title: 'Administration area: pages by status',
    unit: 'reqps',
    queries: [{ expr: `sum by (status) (${rate('tally_admin_requests_total')})`, legend: '{{status}}' }],
  },
  {
    title: 'Administration area: live screens',
    unit: 'short',
    queries: [{ expr: `sum(tally_admin_live_screens{${tally}})`, legend: 'open' }],
  },
]
