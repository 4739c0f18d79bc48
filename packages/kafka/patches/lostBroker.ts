import { setTimeout as sleep } from 'node:timers/promises'

type KafkaError = Error & { type?: string }

/** The part of kafkajs's ConsumerGroup that the patch uses. */
type ConsumerGroup = {
  groupId: string
  memberId: string | null
  generationId: number | null
  coordinator: unknown
  offsetManager: { coordinator: unknown } | null
  cluster: {
    findGroupCoordinator(of: { groupId: string }): Promise<unknown>
    brokerPool: { metadataExpireAt: number | null }
  }
  heartbeat(of: { interval: number }): Promise<void>
  recoverFromFetch(error: KafkaError): Promise<void>
}

type Membership = Pick<ConsumerGroup, 'memberId' | 'generationId'>
type State = {
  beating?: boolean
  failingSince?: number
  failed?: Membership & { error: Error }
  fetches?: { failingSince: number; failedAt: number }
}

/**
 * How long to wait until Kafka names another leader or coordinator: by default, it gives up a broker after 9 s, and a
 * member of a group after 10 s more. After that, the consumer starts again.
 */
const lookMs = 30_000
const lookAgainMs = 250
/** Failed fetches further apart than this do not belong together. */
const apartMs = 10_000

const lostNames =
  /^KafkaJS(ConnectionError|ConnectionClosedError|RequestTimeoutError|BrokerNotFound|LockTimeout)$/
const lostTypes = new Set([
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
])

/**
 * Keeps a consumer in its group while one broker is gone. In kafkajs 2.2.4, six failed fetches from one broker (3 s) or
 * six failed heartbeats end the consumer, and a new member then waits until the group gives up the old one (10 s). Here
 *
 * - a fetch that fails for its connection is tried again with fresh metadata; fetches from other brokers go on;
 * - fetches do not wait for heartbeats, and a heartbeat that fails for its connection goes to the group's new
 *   coordinator, which knows the member, as with the Java client. An error that means joining again is thrown by the
 *   next call.
 */
export function patchLostBroker(prototype: object): void {
  const { heartbeat, recoverFromFetch } = prototype as ConsumerGroup
  const states = new WeakMap<ConsumerGroup, State>()
  const stateOf = (group: ConsumerGroup): State => {
    const state = states.get(group) ?? {}
    states.set(group, state)
    return state
  }

  const beat = async (group: ConsumerGroup, state: State, of: { interval: number }): Promise<void> => {
    const { memberId, generationId } = group
    const isSame = (): boolean => group.memberId === memberId && group.generationId === generationId
    try {
      await heartbeat.call(group, of)
      delete state.failingSince
    } catch (error) {
      state.failingSince ??= Date.now()
      if (!isCoordinatorLost(error as KafkaError) || Date.now() - state.failingSince > lookMs) {
        delete state.failingSince
        state.failed = { memberId, generationId, error: error as Error }
        return
      }
      await sleep(lookAgainMs, undefined, { ref: false })
      if (!isSame()) return
      const coordinator = await group.cluster
        .findGroupCoordinator({ groupId: group.groupId })
        .catch(() => undefined)
      if (coordinator === undefined || !isSame()) return
      group.coordinator = coordinator
      if (group.offsetManager !== null) group.offsetManager.coordinator = coordinator
    }
  }

  Object.assign(prototype, {
    async heartbeat(this: ConsumerGroup, of: { interval: number }): Promise<void> {
      const state = stateOf(this)
      const { failed } = state
      if (failed && failed.memberId === this.memberId && failed.generationId === this.generationId)
        throw failed.error
      if (state.beating) return
      state.beating = true
      void beat(this, state, of).finally(() => {
        state.beating = false
      })
    },

    async recoverFromFetch(this: ConsumerGroup, error: KafkaError): Promise<void> {
      if (!/^KafkaJS(ConnectionError|RequestTimeoutError)$/.test(error.name))
        return recoverFromFetch.call(this, error)
      const state = stateOf(this)
      const now = Date.now()
      const isFirst = state.fetches === undefined || now - state.fetches.failedAt > apartMs
      const failingSince = isFirst ? now : (state.fetches?.failingSince ?? now)
      state.fetches = { failingSince, failedAt: now }
      if (now - failingSince > lookMs) throw error
      await sleep(lookAgainMs, undefined, { ref: false })
      this.cluster.brokerPool.metadataExpireAt = null
    },
  })
}

const isCoordinatorLost = ({ name, type }: KafkaError): boolean =>
  lostNames.test(name) || (type !== undefined && lostTypes.has(type))
