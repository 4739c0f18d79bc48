import { readFileSync } from 'node:fs'
import { decodeRecord, type RecordType, recordExamples } from '@tally/contract'
import { Marked } from 'marked'
import { expect, test } from 'vitest'
import { fencesOf } from './clients/blocks.ts'

const guide = readFileSync(new URL('../docs/guides/producers/README.md', import.meta.url), 'utf8')
const examples = fencesOf(new Marked().lexer(guide)).flatMap(({ lang = '', text }) => {
  const [, type] = /^json (\w+)$/.exec(lang) ?? []
  return type === undefined ? [] : [{ type: type as RecordType, text }]
})

test('the guide for producers has examples of orders and refunds', () => {
  expect([...new Set(examples.map(({ type }) => type))]).toEqual(['orders', 'refunds'])
})

test.each(examples)('Tally takes $text', ({ type, text }) => {
  const record = { ...recordExamples[type], ...JSON.parse(text) }
  const decoded = decodeRecord(type, Buffer.from(record.eventId), Buffer.from(JSON.stringify(record)))
  expect(decoded).toMatchObject({ outcome: 'decoded' })
})
