import { expect, test } from 'vitest'
import { groupShards } from './shardGroups.ts'

const sorted = (groups: number[][]) => groups.map(group => group.sort()).sort()

test('shards that do not share an event are switched one by one', () => {
  expect(sorted(groupShards([0, 1, 2], []))).toEqual([[0], [1], [2]])
})

test('shards that share an event, directly or through another shard, are switched together', () => {
  expect(
    sorted(
      groupShards(
        [0, 1, 2, 3, 4],
        [
          [0, 3],
          [3, 4],
        ],
      ),
    ),
  ).toEqual([[0, 3, 4], [1], [2]])
})

test('a shard that is already switched does not count', () => {
  expect(sorted(groupShards([1, 2], [[0, 1]]))).toEqual([[1], [2]])
})
