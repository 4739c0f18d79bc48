import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const chart = join(import.meta.dirname, 'tally')
export const readme = join(chart, 'README.md')
const [begin, end] = ['<!-- values: made by `npm run chart:readme` -->\n', '<!-- values end -->']

type Schema = { description?: string; properties?: Record<string, Schema>; enum?: unknown[] }

/** The chart's README with the table that values.schema.json and values.yaml make; values alike share a row. */
export function readmeWithTable(text = readFileSync(readme, 'utf8')): string {
  const schema: Schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))
  const defaults: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const [before, after] = [text.split(begin)[0], text.split(end)[1]]
  if (before === undefined || after === undefined) throw new Error(`${readme} has no place for the table`)
  const alike = Map.groupBy(rowsOf(schema, defaults, ''), ([, ...others]) => others.join(' | '))
  const rows = [...alike].map(([others, same]) => `| ${same.map(at => at[0]).join(', ')} | ${others} |\n`)
  return `${before}${begin}| value | default | |\n|---|---|---|\n${rows.join('')}${end}${after}`
}

/** A row for each value that is not a group of values: path, default, description. */
function rowsOf(
  { description = '', properties, enum: choices }: Schema,
  value: unknown,
  path: string,
): string[][] {
  const isGroup = properties !== undefined && description === ''
  if (!isGroup) {
    const taken = choices?.map(choice => `\`${choice}\``).join(', ')
    return [[`\`${path}\``, shown(value), taken === undefined ? description : `${description}: ${taken}`]]
  }
  const given = value as Record<string, unknown> | undefined
  return Object.entries(properties).flatMap(([name, schema]) =>
    name in (given ?? {}) ? rowsOf(schema, given?.[name], path === '' ? name : `${path}.${name}`) : [],
  )
}

const shown = (value: unknown): string => (value === '' ? '' : `\`${JSON.stringify(value)}\``)

if (import.meta.main) writeFileSync(readme, readmeWithTable())
