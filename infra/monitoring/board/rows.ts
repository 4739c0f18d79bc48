import { processes } from './processes.ts'
import { type Panel, tally } from './query.ts'
import { records } from './records.ts'
import { requests } from './requests.ts'

const burnRate = (slo: string, objective: number) => ({
  expr: `tally:slo_errors:ratio1h{${tally},slo="${slo}"} / ${objective}`,
  legend: slo,
})
const serviceLevels: Panel[] = [
  {
    title: 'Burn rate of the last hour',
    description: 'At 1 the error budget lasts 30 days, at 14.4 for two: then an alert fires.',
    unit: 'short',
    queries: [burnRate('freshness', 0.01), burnRate('availability', 0.001), burnRate('latency', 0.01)],
  },
  {
    title: 'Age of the figures, oldest shard',
    description: 'The objective is at most 2 s for 99 % of the time.',
    unit: 's',
    queries: [{ expr: `tally:as_of_age_seconds:max{${tally}}`, legend: '{{namespace}}' }],
  },
  {
    title: 'Alerts that fire',
    unit: 'short',
    queries: [
      {
        expr: 'count by (alertname, severity) (ALERTS{alertname=~"Tally.*",alertstate="firing"}) or vector(0)',
        legend: '{{alertname}}',
      },
    ],
  },
]

const machines: Panel[] = [
  {
    title: 'Memory of Redis',
    description: 'redis_exporter. A limit of 0 is none.',
    unit: 'bytes',
    queries: [
      { expr: 'redis_memory_used_bytes', legend: 'used {{instance}}' },
      { expr: 'redis_memory_max_bytes', legend: 'limit {{instance}}' },
    ],
  },
  {
    title: 'Free space of disks',
    description: 'node_exporter, or the kubelet.',
    unit: 'percentunit',
    queries: [
      {
        expr: 'node_filesystem_avail_bytes{fstype!~"tmpfs|ramfs"} / node_filesystem_size_bytes or kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes',
        legend: '{{instance}} {{mountpoint}}{{persistentvolumeclaim}}',
      },
    ],
  },
  {
    title: 'Certificates, until they expire',
    description: 'blackbox_exporter.',
    unit: 's',
    queries: [{ expr: 'probe_ssl_earliest_cert_expiry - time()', legend: '{{instance}}' }],
  },
]

/** The board's rows, from what users see to what is around Tally. */
export const rows: { title: string; panels: Panel[] }[] = [
  { title: 'Service levels', panels: serviceLevels },
  { title: 'Requests', panels: requests },
  { title: 'Records', panels: records },
  { title: 'Processes', panels: processes },
  { title: 'Around Tally', panels: machines },
]
