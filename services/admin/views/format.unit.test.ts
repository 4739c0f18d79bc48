import { expect, test } from 'vitest'
import { formatIn } from './format.ts'

test('a figure below zero has the minus of its locale, and zero has none', () => {
  const [italian, swedish] = [formatIn('it'), formatIn('sv')]
  expect([italian.money(-6), italian.money(-0)]).toEqual(['-6,00\u00a0€', '0,00\u00a0€'])
  expect([swedish.whole(-3), swedish.whole(-0)]).toEqual(['\u22123', '0'])
})
