import type { ItemsDocument } from '@tally/core'
import { expect, test } from 'vitest'
import { blockOfSegment, joinSegments, segmentOf, segmentsOf } from './segments.ts'

const items: ItemsDocument = [
  [3, 1, 2.5, 0, 0],
  [4, 2, 5, 0, 0],
  [7, 3, 7.5, 1, 2.5],
  [9000, 1, 1, 0, 0],
]

test('items with adjacent ids share a segment, and the segments of sixteen items share a block', () => {
  expect([0, 3, 4, 7, 9000].map(segmentOf)).toEqual([0, 0, 1, 1, 2250])
  expect([0, 3, 4, 2250].map(blockOfSegment)).toEqual([0, 0, 1, 562])
})

test('segments together are the document', () => {
  const segments = segmentsOf(items)
  expect([...segments.keys()]).toEqual([0, 1, 2250])
  const fields = [...segments].map(([segment, text]) => [`items:41:0:${segment}`, text])
  const hash = { revision: '5', 'segments:41:0': '0,1,2250', ...Object.fromEntries(fields) }
  expect(joinSegments(hash)).toEqual({ revision: '5', 'items:41:0': JSON.stringify(items) })
})

test('a segment without sold items is left out, and one that its document does not list stays a field', () => {
  const hash = {
    'segments:41:0': '0,1',
    'items:41:0:0': '[3,1,2.5,0,0]',
    'items:41:0:1': '',
    'items:41:0:2': '[8]',
  }
  expect(joinSegments(hash)).toEqual({ 'items:41:0': '[[3,1,2.5,0,0]]', 'items:41:0:2': '[8]' })
})

test('a document without sold items is an empty list', () => {
  expect(joinSegments({ 'segments:41:0': '' })).toEqual({ 'items:41:0': '[]' })
})
