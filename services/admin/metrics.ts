import { timeZoneDataVersion } from '@tally/contract'
import type { Metrics } from '@tally/platform'

/** The metrics that an administration process keeps; packages/platform describes each. */
export function adminMetrics(metrics: Metrics) {
  metrics.gauge('tally_time_zone_data_info', ['version']).set({ version: timeZoneDataVersion() }, 1)
  return {
    requests: metrics.counter('tally_admin_requests_total', ['status']),
    signIns: metrics.counter('tally_admin_sign_ins_total', ['outcome']),
    screens: metrics.gauge('tally_admin_live_screens', []),
  }
}
export type AdminMetrics = ReturnType<typeof adminMetrics>
