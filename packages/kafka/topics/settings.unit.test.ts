import { expect, test } from 'vitest'
import { retentionOf } from './settings.ts'

test('every setting that lets Kafka remove records is named, and no other', () => {
  const found = (settings: Record<string, string>) => retentionOf(new Map(Object.entries(settings)))
  const kept = { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' }
  expect(found(kept)).toEqual([])
  expect(found({ ...kept, 'retention.ms': '604800000' })).toEqual(['retention.ms=604800000'])
  expect(found({ ...kept, 'retention.bytes': '1000' })).toEqual(['retention.bytes=1000'])
  expect(found({ ...kept, 'cleanup.policy': 'compact', 'retention.ms': '5' })).toEqual([
    'cleanup.policy=compact',
  ])
  expect(found({ ...kept, 'cleanup.policy': 'compact,delete', 'retention.ms': '5' })).toHaveLength(2)
})
