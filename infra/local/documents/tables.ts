import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpointTable, fieldTable, parameterTable } from './endpoints.ts'

const root = join(import.meta.dirname, '../../..')
const tables: Record<string, () => string> = {
  endpoints: endpointTable,
  parameters: parameterTable,
  fields: fieldTable,
}
/** The documents with tables that are made from declarations in the code. */
export const documentsWithTables = ['docs/api.md']

/** A document with each of its tables as the code has it; throws if it names a table that is not made. */
export function withTables(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  return text.replaceAll(
    /(<!-- (\w+): made by `npm run generate` -->\n)[\s\S]*?(?=<!-- end -->)/g,
    (_, begin: string, name: string) => {
      const table = tables[name]
      if (table === undefined)
        throw new Error(`${path} names the table ${name}, which tables.ts does not make`)
      return begin + table()
    },
  )
}

if (import.meta.main)
  for (const path of documentsWithTables) writeFileSync(join(root, path), withTables(path))
