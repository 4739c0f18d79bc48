import { readFileSync } from 'node:fs'
import { decodeRecord, type RecordType, recordTypes } from '@tally/contract'
import { Marked } from 'marked'
import { expect, test } from 'vitest'
import { fencesOf } from './clients/blocks.ts'

const blocksOf = (page: string) =>
  fencesOf(new Marked().lexer(readFileSync(new URL(`../docs/${page}`, import.meta.url), 'utf8')))
const examples = blocksOf('guides/producers/README.md').flatMap(({ lang = '', text }) => {
  const [, type] = /^json (\w+)$/.exec(lang) ?? []
  return type === undefined ? [] : [{ type: type as RecordType, text }]
})

test('the guide for producers has examples of orders and refunds', () => {
  expect([...new Set(examples.map(({ type }) => type))]).toEqual(['orders', 'refunds'])
})

test.each(examples)('Tally takes $text', ({ type, text }) => {
  const record = { ...recordTypes[type].example, ...JSON.parse(text) }
  const decoded = decodeRecord(type, Buffer.from(record.eventId), Buffer.from(JSON.stringify(record)))
  expect(decoded).toMatchObject({ outcome: 'decoded' })
})

test('docs/records.md shows the examples of the contract, with shortened ids', () => {
  const json = blocksOf('records.md').filter(({ lang }) => lang === 'json')
  const shown = json.map(({ text }) =>
    JSON.parse(text.replaceAll('…uuid', '0000-0000-4000-8000-000000000001')),
  )
  expect(shown).toEqual(Object.values(recordTypes).map(({ example }) => example))
})
