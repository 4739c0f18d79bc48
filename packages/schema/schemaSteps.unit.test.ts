import { expect, test } from 'vitest'
import { migrations } from './migrate.ts'
import { misfitOf, planMigrations, SkippedVersionError } from './schemaSteps.ts'

/** Version 1 has 1 and 2, version 2 adds a pair of steps, version 3 another one. */
const [first, second] = ['0001-tables', '0002-index']
const [expandTwo, contractTwo] = ['0003-new-column', '0004-contract-old-column']
const [expandThree, contractThree] = ['0005-new-table', '0006-contract-old-table']
const one = [first, second]
const two = [...one, expandTwo, contractTwo]
const three = [...two, expandThree, contractThree]

test('an upgrade expands, and leaves its contract step for later', () => {
  expect(planMigrations(two, one)).toEqual([expandTwo])
  expect(planMigrations(two, [...one, expandTwo])).toEqual([])
  expect(planMigrations(two, [...one, expandTwo], { contracts: true })).toEqual([contractTwo])
})

test('a contract step that was forgotten runs before the next version expands', () => {
  expect(planMigrations(three, [...one, expandTwo])).toEqual([contractTwo, expandThree])
})

test('an upgrade that skips a version is refused while processes may run', () => {
  expect(() => planMigrations(three, one)).toThrow(SkippedVersionError)
  expect(() => planMigrations(three, one)).toThrow('0004-contract-old-column removes what running processes')
  expect(planMigrations(three, one, { contracts: true })).toEqual(three.slice(2))
})

test('an upgrade from 0.2.0 to this version skips none', () => {
  const released = ['0015-quiet-events', '0016-column-statistics']
  expect(planMigrations(Object.keys(migrations), released)).toContain('0017-refund-versions')
})

test('an empty database gets all migrations at once', () => {
  expect(planMigrations(three, [])).toEqual(three)
})

test('nothing runs on a schema that is newer than the program', () => {
  expect(planMigrations(one, [...one, expandTwo])).toEqual([])
})

test('old and new processes of one upgrade run on the expanded schema, and only new ones on the contracted one', () => {
  const [expanded, contracted] = [[...one, expandTwo], two]
  expect([misfitOf(one, expanded), misfitOf(two, expanded)]).toEqual([undefined, undefined])
  expect([misfitOf(one, contracted), misfitOf(two, contracted)]).toEqual(['newer', undefined])
})

test('a program does not run on a schema without its expansion', () => {
  expect([misfitOf(one, []), misfitOf(two, one), misfitOf(three, two)]).toEqual(['old', 'old', 'old'])
})
