import { expect, test, vi } from 'vitest'
import type { Cluster } from '../client/connection.ts'
import { kafkajs } from '../client/kafkajs.ts'
import type { Tuning } from '../types.ts'
import { Membership } from './membership.ts'

const memberAssignment = kafkajs.AssignerProtocol.MemberAssignment.encode({
  version: 1,
  assignment: { orders: [1, 0], others: [7] },
  userData: Buffer.alloc(0),
})
const refusal = (type: string) => Object.assign(new Error(type), { type })

/** A broker that does what a coordinator would. */
function coordinator() {
  const ids: string[] = []
  return {
    ids,
    joinGroup: vi.fn(async ({ memberId }: { memberId: string }) => {
      ids.push(memberId)
      const id = memberId || `member-${ids.length}`
      return { memberId: id, generationId: ids.length, leaderId: 'another', members: [] }
    }),
    syncGroup: vi.fn(async () => ({ memberAssignment })),
    heartbeat: vi.fn(async () => {}),
    leaveGroup: vi.fn(async () => {}),
  }
}

function given() {
  const [first, second] = [coordinator(), coordinator()]
  const findGroupCoordinator = vi.fn(async () => first)
  const membership = new Membership({
    cluster: { findGroupCoordinator } as unknown as Cluster,
    groupId: 'g',
    topics: ['orders'],
    tuning: {} as Tuning,
    claim: () => undefined,
    counts: async () => new Map([['orders', 2]]),
  })
  const { signal } = new AbortController()
  return { membership, first, second, findGroupCoordinator, join: () => membership.join(signal) }
}

test('a member gets its partitions in order, without those of topics that it does not read', async () => {
  const { join } = given()
  const assignment = new Map([['orders', [0, 1]]])
  expect(await join()).toEqual({ generation: 1, assignment, counts: undefined })
})

test('a heartbeat that is refused after the member has joined again is ignored', async () => {
  const { membership, first, join } = given()
  await join()
  const late = Promise.withResolvers<void>()
  first.heartbeat.mockReturnValueOnce(late.promise)
  const heartbeat = membership.heartbeat()
  await join()
  late.reject(refusal('UNKNOWN_MEMBER_ID'))
  await expect(heartbeat).resolves.toBeUndefined()
  await join()
  expect(first.ids).toEqual(['', 'member-1', 'member-1'])
})

test('a heartbeat that reports a rebalance is thrown; a member that the group has given up joins as a new one', async () => {
  const { membership, first, join } = given()
  await join()
  first.heartbeat.mockRejectedValueOnce(refusal('REBALANCE_IN_PROGRESS'))
  await expect(membership.heartbeat()).rejects.toThrow('REBALANCE_IN_PROGRESS')
  await join()
  first.heartbeat.mockRejectedValueOnce(refusal('UNKNOWN_MEMBER_ID'))
  await expect(membership.heartbeat()).rejects.toThrow('UNKNOWN_MEMBER_ID')
  await join()
  expect(first.ids).toEqual(['', 'member-1', ''])
})

test('a join during which others join is tried again at once', async () => {
  const { first, join } = given()
  first.syncGroup.mockRejectedValueOnce(refusal('REBALANCE_IN_PROGRESS'))
  expect((await join()).generation).toBe(2)
  expect(first.ids).toEqual(['', 'member-1'])
})

test.each(['NOT_COORDINATOR_FOR_GROUP', 'GROUP_LOAD_IN_PROGRESS'])(
  'after %s the next heartbeat goes to the new coordinator, as the same member',
  async type => {
    const { membership, first, second, findGroupCoordinator, join } = given()
    await join()
    first.heartbeat.mockRejectedValueOnce(refusal(type))
    findGroupCoordinator.mockResolvedValue(second)
    await membership.heartbeat()
    await membership.heartbeat()
    const of = { groupId: 'g', memberId: 'member-1', groupGenerationId: 1 }
    expect(second.heartbeat.mock.calls).toEqual([[of]])
    await membership.leave()
    expect(second.leaveGroup.mock.calls).toEqual([[{ groupId: 'g', memberId: 'member-1' }]])
  },
)

test('a join is given up if the coordinator stays lost, and does not ask without a pause', async () => {
  vi.useFakeTimers()
  const { first, join } = given()
  first.joinGroup.mockRejectedValue(refusal('NOT_COORDINATOR_FOR_GROUP'))
  const joined = expect(join()).rejects.toThrow('NOT_COORDINATOR_FOR_GROUP')
  await vi.advanceTimersByTimeAsync(31_000)
  await joined
  expect(first.joinGroup.mock.calls.length).toBeLessThan(130)
  vi.useRealTimers()
})
