import { settingNames, settingRows } from '@tally/platform'
import { rowsOf } from './rows.ts'

/** The table of docs/reference.md, Settings. */
export const settingTable = () =>
  rowsOf(
    ['setting', 'default', ''],
    settingRows().map(([name, fallback, sentence]) => [`\`${name}\``, fallback, sentence]),
  )

/** Settings that the containers fix: addresses, ports, and a Kafka without TLS. */
const fixed =
  /^(KAFKA_(BROKERS|SSL|SASL_\w+)|DATABASE_URL|REDIS_URL|(QUERY|OPS)_HOST|OPS_PORT|(QUERY|ADMIN)_PORT|ADMIN_HOST)$/

/** The settings that docker-compose.yml passes through: those of the administration area alone, or the others. */
export function composeSettings(isAdmin: boolean, indentation: string): string {
  const passed = settingNames.filter(name => !fixed.test(name) && name.startsWith('ADMIN_') === isAdmin)
  return passed.map(name => `${indentation}${name}: \${${name}:-}\n`).join('')
}

/** values.schema.json of the chart with the names of all settings that are neither secret nor fixed there. */
export function withChartSettings(text: string): string {
  const { properties } = JSON.parse(text)
  const others = [
    'DATABASE_URL',
    'ADMIN_PORT',
    'OPS_PORT',
    'QUERY_PORT',
    ...properties.secrets.propertyNames.enum,
  ]
  const names = settingNames.filter(name => !others.includes(name)).sort()
  const lines = names.map(name => `          ${JSON.stringify(name)}`).join(',\n')
  return text.replace(/("settings": \{[^[]*"enum": \[)[^\]]*\]/, `$1\n${lines}\n        ]`)
}
