import { type EventHead, versionOf } from '@tally/figures'
import { expect, test } from 'vitest'
import { documentFields } from './verify.ts'

test('an event that is scattered should have the version under which it is published', () => {
  const event = { version: 3, timeZone: 'Europe/Rome', shard: 1, isScattered: true }
  const fields = documentFields({ revision: 7, event } as EventHead, new Map())
  expect(fields.get('version')).toBe(versionOf(event as NonNullable<EventHead['event']>))
})
