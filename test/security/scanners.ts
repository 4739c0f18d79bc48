import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '#infra/command.ts'
import type { Target } from './system.ts'

/** A scanner from PyPI at a fixed version, in an environment of its own. */
type Scanner = {
  name: string
  package: string
  about: string
  /** Scans and returns what it found, a line each. */
  scan: (target: Target, program: (name: string) => string, folder: string) => Promise<string[]>
}

export const scanners: Scanner[] = [
  {
    name: 'schemathesis',
    package: 'schemathesis==4.32.5',
    about: 'requests made from the OpenAPI document, right and wrong ones, to every operation',
    async scan({ api, token }, program, folder) {
      const limits = ['--max-examples', '30', '--workers', '1', '--seed', '1', '--max-time', '60']
      // A list of ids has bounds that its pattern in the document cannot express: they are a 400.
      const checks = ['--exclude-checks', 'positive_data_acceptance']
      const what = [`${api}/api/v1/openapi.json`, '--header', `X-Api-Key: ${token}`]
      const args = ['run', ...what, ...limits, ...checks, '--continue-on-failure', '--no-color']
      // It keeps a folder of its own where it is started. It fails if a check does.
      const ended = await run(program('schemathesis'), args, { cwd: folder, errorLines: 200 }).then(
        ({ output }) => ({ output, found: [] }),
        error => ({ output: String(error), found: String(error).split('\n') }),
      )
      if (!/\d+ generated/.test(ended.output)) throw new Error(ended.output)
      return ended.found
    },
  },
  {
    name: 'wapiti',
    package: 'wapiti3==3.2.3',
    about: 'crawls the administration area signed in and attacks each form and parameter',
    async scan({ admin, session }, program, folder) {
      const report = join(folder, 'wapiti.json')
      rmSync(report, { force: true })
      const where = ['--url', `${admin}/`, '--scope', 'domain', '--exclude', `${admin}/sign-out`]
      const how = ['--module', 'common,crlf,csrf,http_headers,cookieflags,methods', '--level', '1']
      const limits = ['--max-scan-time', '90', '--max-attack-time', '15']
      const kept = mkdtempSync(join(folder, 'wapiti-'))
      const result = ['--store-session', kept, '--flush-session', '--format', 'json', '--output', report]
      const args = [
        ...where,
        ...how,
        ...limits,
        ...result,
        '--header',
        `Cookie: ${session}`,
        '--no-bugreport',
      ]
      await run(program('wapiti'), args, { cwd: folder, errorLines: 50 })
      rmSync(kept, { recursive: true, force: true })
      if (!existsSync(report)) throw new Error('it left no report')
      const { vulnerabilities } = JSON.parse(readFileSync(report, 'utf8')) as Report
      return Object.entries(vulnerabilities).flatMap(([kind, found]) =>
        found.map(({ method, path, info }) => `${kind}: ${method} ${path}: ${info}`),
      )
    },
  },
]
type Report = { vulnerabilities: Record<string, { method: string; path: string; info: string }[]> }

/** Other scanners that were looked at, and why they do not run here. */
export const notRun = [
  'nikto: not in main of Debian 12; it checks known products, of which Tally has none',
  'nuclei: neither it nor its templates could be had through the Go proxy',
  'ZAP: not in Debian 12',
]
