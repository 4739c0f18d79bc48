import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const sources = globSync('{packages,services}/*/**/*.{ts,js}', { cwd: root })
  .filter(path => !/node_modules|\.test\.ts$|\/test\/|^packages\/testkit\//.test(path))
  .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** `path: matching text` for each match in the sources. */
const placesOf = (pattern: RegExp): string[] =>
  sources
    .flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([found]) => `${path}: ${found}`))
    .toSorted()

test('SQL text is made of constants only; values are parameters', () => {
  expect(sources.length).toBeGreaterThan(100)
  expect(
    placesOf(/\bsql\s*\.\s*(raw|lit)\b(<[^>]*>)?\([^)]*\)|\b(CompiledQuery|RawBuilder)\.raw\b/g),
  ).toEqual([
    // A cursor's select takes no parameter; the id went through the contract's UUID, and `lit` escapes it.
    'packages/figures/refunds.ts: sql.lit(eventId)',
    'packages/figures/refunds.ts: sql.lit(pageSize)',
    // A grant takes no parameter: its rights, tables and roles are constants, and Postgres quotes the schema's name.
    "packages/schema/roles.ts: sql.raw(grants.join('\\n')",
  ])
})

test('texts that are made when a module is loaded are made of the counters, the statuses and the columns of orders', () => {
  expect(placesOf(/\bsql(<\w+>)?\([^)]*\)/g)).toEqual([
    'packages/figures/tables/statement.ts: sql<Result>(parts, ...values)',
  ])
  expect(placesOf(/(?<!function )\bstatement(<\w+>)?\(\w*/g)).toEqual([
    'packages/figures/documents.ts: statement(jsonText',
    'packages/figures/orders/known.ts: statement(columnsBut',
    'packages/figures/orders/known.ts: statement(fieldsBut',
    'packages/figures/orders/reader.ts: statement(',
    'packages/figures/orders/table.ts: statement(insertOrdersText',
    'packages/figures/orders/table.ts: statement(insertOrdersText',
    'packages/figures/tables/reader.ts: statement(confirmedStatuses',
    'packages/figures/tables/reader.ts: statement<ScannedRow>(scanText',
    'packages/figures/tables/statement.ts: statement(',
    'packages/figures/tables/statement.ts: statement(Object',
    'packages/figures/tables/writeBatch.ts: statement(',
    'packages/figures/tables/writeBatch.ts: statement(blocksText',
    'packages/figures/tables/writeBatch.ts: statement(blocksText',
    'packages/figures/tables/writeBatch.ts: statement(emptiedText',
    'packages/figures/tables/writeBatch.ts: statement(insertText',
  ])
})

test('names in SQL are constants of the source: tables, columns, the shadow schema', () => {
  const names = new Set(
    placesOf(/\bsql\s*\.\s*(id|ref|table)\([^)]*\)/g).map(place => place.replace(/^.*: /, '')),
  )
  expect(
    [...names].filter(name => !/\((('[a-z_.]+'|shadowSchema|table|column|status)(, )?)+\)$/.test(name)),
  ).toEqual([])
})

test('no statement goes to Postgres past kysely', () => {
  expect(placesOf(/\bnew (pg\.)?(Client|Query)\(|\b(client|pool|db)\.query\(/g)).toEqual([
    // The pool as kysely calls it: texts and parameters come from kysely.
    'packages/platform/postgres/pool.ts: client.query(',
    'packages/platform/postgres/pool.ts: client.query(',
    // A new connection's settings and its epoch, constant texts with parameters, before kysely gets it.
    'packages/schema/database.ts: client.query(',
  ])
})

test('Lua comes from .lua files only, and runs by name with keys and arguments apart', () => {
  expect(
    placesOf(
      /\.\s*(eval|evalsha|evalRo|fcall)\s*\(|\bredis\.call\b|'EVAL(SHA)?'|\.call\(\s*['"`]|sendCommand\(/gi,
    ),
  ).toEqual([])
  expect(placesOf(/\bdefineCommand\([^)]*\)/g)).toEqual([
    'packages/platform/redis/client.ts: defineCommand(script, { numberOfKeys: numberOfKeys(file)',
  ])
  expect(placesOf(/\blua\b(:|\s*=)[^,\n]*/g).filter(place => !place.includes('readFileSync('))).toEqual([])
})

test('a Lua script makes no code, and no key, of what it is given', () => {
  const scripts = globSync('{packages,services}/*/**/*.lua', { cwd: root })
  expect(scripts.length).toBeGreaterThan(3)
  for (const path of scripts) {
    const lua = readFileSync(join(root, path), 'utf8').replaceAll(/--.*$/gm, '')
    expect(lua, path).not.toMatch(/\b(loadstring|load|dofile|setfenv)\b/)
    for (const [, key] of lua.matchAll(/redis\.p?call\('[A-Z]+',\s*([^,)]+)/g))
      expect(key, path).toMatch(/^KEYS\[[\w *+-]+\]$/)
  }
})

test('what is shipped runs no text as code and no program, and puts no text into a page unescaped', () => {
  expect(
    placesOf(
      /\beval\(|new Function\(|node:(child_process|vm)\b|(inner|outer)HTML\b|insertAdjacentHTML|document\.write/g,
    ),
  ).toEqual([])
})
