import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { metricHelp } from '@tally/platform'
import { expect, test } from 'vitest'

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const rules = textOf('infra/monitoring/alerts.yaml')
const runbook = textOf('docs/runbook.md')
const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]+?runbook_url: (\S+)/g)].map(
  ([, name = '', url = '']) => ({
    name,
    url,
  }),
)

test('every alert has its entry in the runbook, and every entry there an alert', () => {
  const [entries = ''] = /^## Alerts\n[\s\S]+?(?=^## )/m.exec(runbook) ?? []
  expect([...entries.matchAll(/^### (\w+)$/gm)].map(([, title]) => title)).toEqual(
    alerts.map(({ name }) => name),
  )
  for (const { name, url } of alerts) expect(url).toBe(`docs/runbook.md#${name.toLowerCase()}`)
})

test('every entry of an alert says what it means, what to look at and what to do', () => {
  for (const entry of runbook.split(/^### /m).filter(entry => entry.startsWith('Tally')))
    for (const part of ['*Means:*', '*Look', '*Do:*']) expect(entry).toContain(part)
})

test('every alert has a test in which it fires, and one in which it does not', () => {
  const tests = textOf('infra/monitoring/alerts.test.yaml')
  for (const { name } of alerts) {
    expect(tests).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n`))
    expect(tests).toMatch(new RegExp(`alertname: ${name}(,|\\n +) *exp_alerts: \\[\\]`))
  }
})

test('the runbook has its commands in blocks, which a test runs', () => {
  const prose = runbook.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  expect(prose.match(/`(tally|curl|redis-cli|psql|kubectl|openssl|df) [^`]+`/g)).toBeNull()
})

test('alerts and board name only metrics that exist', () => {
  const board = textOf('infra/monitoring/board.json')
  const named = [rules, board].flatMap(text => text.match(/\btally_(?!info)[a-z_]+/g) ?? [])
  const known = Object.keys(metricHelp).flatMap(name => [
    name,
    ...['bucket', 'count', 'sum'].map(end => `${name}_${end}`),
  ])
  expect(named.filter(name => !known.includes(name))).toEqual([])
})
