import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { rowsOf } from './rows.ts'

const chart = join(import.meta.dirname, '../../kubernetes/tally')

type Schema = { description?: string; properties?: Record<string, Schema>; enum?: unknown[] }

/** The table of the chart's README, which values.schema.json and values.yaml make; values alike share a row. */
export function chartValueTable(): string {
  const schema: Schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))
  const defaults: unknown = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const alike = Map.groupBy(valuesOf(schema, defaults, ''), ([, ...others]) => others.join(' | '))
  const rows = [...alike].map(([others, same]) => [same.map(([path]) => path).join(', '), others])
  return rowsOf(['value', 'default', ''], rows)
}

/** A row for each value that is not a group of values: path, default, description. */
function valuesOf(
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
    name in (given ?? {}) ? valuesOf(schema, given?.[name], path === '' ? name : `${path}.${name}`) : [],
  )
}

const shown = (value: unknown): string => (value === '' ? '' : `\`${JSON.stringify(value)}\``)
