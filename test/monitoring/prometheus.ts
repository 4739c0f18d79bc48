import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Started, startProgram } from './programs.ts'
import { scaled } from './scaled.ts'

/** A job of Prometheus: what to scrape, as host:port, and for blackbox_exporter what it should probe. */
export type Job = { name: string; target: string; probe?: string }
type Series = { metric: Record<string, string>; value: [number, string] }
export type Prometheus = {
  /** The series of an expression now. */
  query(expression: string): Promise<Series[]>
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>
  stop: Started['stop']
}

const rulesFile = join(import.meta.dirname, '../../infra/monitoring/alerts.yaml')

/** Starts a Prometheus with the scaled rules, which scrapes once a second. */
export async function startPrometheus(jobs: Job[], folder: string): Promise<Prometheus> {
  const config = join(folder, 'prometheus.yml')
  writeFileSync(join(folder, 'alerts.yaml'), scaled(readFileSync(rulesFile, 'utf8')))
  writeFileSync(config, JSON.stringify(configOf(jobs)))
  const { address, stop } = await startProgram(
    {
      name: 'prometheus',
      args: listen => [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${listen}`,
      ],
    },
    folder,
  )
  const get = async (path: string) => {
    const answer = (await (await fetch(`${address}/api/v1/${path}`)).json()) as {
      data: { result: Series[] }
      error?: string
    }
    if (answer.error !== undefined) throw new Error(`${path}: ${answer.error}`)
    return answer.data.result
  }
  const query: Prometheus['query'] = expression => get(`query?query=${encodeURIComponent(expression)}`)
  return {
    query,
    firing: async () =>
      (await query('ALERTS{alertstate="firing"}')).map(({ metric }) => String(metric.alertname)),
    stop,
  }
}

/** YAML includes JSON. */
const configOf = (jobs: Job[]) => ({
  global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' },
  rule_files: ['alerts.yaml'],
  scrape_configs: jobs.map(({ name, target, probe }) => ({
    job_name: name,
    honor_labels: true,
    ...(probe !== undefined && { metrics_path: '/probe', params: { module: ['tls'], target: [probe] } }),
    static_configs: [{ targets: [target] }],
  })),
})
