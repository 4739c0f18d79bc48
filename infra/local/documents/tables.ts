import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartValueTable } from './chartValues.ts'
import { endpointTable, fieldTable, parameterTable, ruleTable } from './endpoints.ts'
import { composeSettings, settingTable, withChartSettings } from './settings.ts'

const root = join(import.meta.dirname, '../../..')
const tables: Record<string, () => string> = {
  endpoints: endpointTable,
  rules: ruleTable,
  parameters: parameterTable,
  fields: fieldTable,
  settings: settingTable,
  chartValues: chartValueTable,
  composeSettings: () => composeSettings(false, '  '),
  composeAdminSettings: () => composeSettings(true, '      '),
}

/** A text with each of its tables as the code has it; throws if it names a table that is not made. */
function withTables(text: string): string {
  return text.replaceAll(
    /( *(?:<!--|#) (\w+): made by `npm run generate`.*\n)[\s\S]*?(?= *(?:<!--|#) end\b)/g,
    (_, begin: string, name: string) => {
      const table = tables[name]
      if (table === undefined) throw new Error(`the table ${name} is not made in tables.ts`)
      return begin + table()
    },
  )
}

/** The files with parts that are made from declarations in the code, and what makes them. */
const made: Record<string, (text: string) => string> = {
  'docs/api.md': withTables,
  'docs/reference.md': withTables,
  'docker-compose.yml': withTables,
  'infra/kubernetes/tally/README.md': withTables,
  'infra/kubernetes/tally/values.schema.json': withChartSettings,
}
export const filesWithTables = Object.keys(made)

/** What a file has, and what it is to have. */
export function compareTables(path: string) {
  const text = readFileSync(join(root, path), 'utf8')
  return { text, asDeclared: made[path]?.(text) }
}

if (import.meta.main)
  for (const path of filesWithTables) writeFileSync(join(root, path), compareTables(path).asDeclared ?? '')
