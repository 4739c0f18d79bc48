import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Counter } from '../counting/counter.ts'
import { counterNames, counters } from '../counting/counters.ts'
import { counterOf, jsonText } from '../documents.ts'
import { insertOrdersText, replaceOrdersText } from '../orders/table.ts'
import { scanText } from './reader.ts'
import { blocksText, emptiedText, insertText } from './writeBatch.ts'

function insertsOf(counter: Counter): string[] {
  const { blocks, amounts } = counter
  if (blocks === undefined) return [insertText(counter)]
  const all = Object.keys(amounts)
  const usual = all.filter(amount => !blocks.seldom.includes(amount))
  return [all, usual].map(updated => blocksText(counter, updated))
}

test('the statements made of the counters and of orders are those of test/statements.sql', async () => {
  const ofCounters = counterNames.flatMap(name => [
    ...insertsOf(counters[name]),
    scanText(counters[name]),
    emptiedText(counters[name]),
  ])
  const ofDocuments = Object.values(counterOf).map(name => jsonText(counters[name]))
  const ofOrders = insertOrdersText + replaceOrdersText
  const texts = [...ofCounters, ...ofDocuments, ofOrders].map(text => `${text.trim()};\n`)
  await expect(texts.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, '../test/statements.sql'))
})
