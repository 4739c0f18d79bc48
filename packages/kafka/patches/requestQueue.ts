import { timeout } from '@tally/platform'
import { leaderNotAvailable, noLeader } from './metadata.ts'

type Request = { requestTimeout: number; sentAt: number; entry: { apiKey: number }; timeoutRequest(): void }

/** The part of kafkajs's RequestQueue that the patches use. `giveUp` and `silentMs`: see reconnect.ts. */
type RequestQueue = {
  broker: string
  enforceRequestTimeout: boolean
  requestTimeoutIntervalId: NodeJS.Timeout
  inflight: Map<number, Request>
  /** How long requests have been in flight without a byte from the broker. */
  silentMs?: number
  giveUp?: (error: Error) => void
  isConnected(): boolean
  destroy(): void
  waitForPendingRequests(): Promise<void>
  throttledUntil: number
  throttleCheckTimeoutId: NodeJS.Timeout | null
  pending: unknown[]
  checkPendingRequests(): void
}

const checkMs = 100
/** How long a broker may take for what it answers at once; longer than a pause for garbage collection. */
const quickMs = 4_000
/** A commit waits at the broker for replicas: 5 s (`offsets.commit.timeout.ms`). */
const commitMs = 8_000
/** Fetch (0.5 s at most), ListOffsets, Metadata, OffsetFetch, FindCoordinator, Heartbeat, LeaveGroup, ApiVersions. */
const quickKeys = [1, 2, 3, 9, 10, 12, 13, 18]
const limits = new Map([[8, commitMs], ...quickKeys.map(key => [key, quickMs] as const)])

/** How long the end of a connection waits for answers. */
const endMs = 1_000
/** After this time without an answer, requests that any broker can answer go to another one. */
const suspectMs = 1_000
/** After this time, the same question goes to the next broker. */
const nextMs = 1_500
/** How long a broker that was given up is asked last. */
const avoidMs = 10_000

/** Brokers (host:port) that were given up, and until when to avoid them. */
const avoided = new Map<string, number>()

export const isAvoided = (address: string): boolean => (avoided.get(address) ?? 0) > Date.now()

/**
 * Ends a connection on which requests wait and no byte arrives. kafkajs 2.2.4 only fails each request after the request
 * time-out and keeps the connection: a broker that is cut off without closing its connections (a lost host, a stopped
 * process) is asked again and again. As in the Java client, all requests of the connection fail together. Only time
 * during which this process ran counts: answers may wait in the socket of a process that was frozen; and a clock may be
 * set back. A connection that ends waits at most 1 s for answers; kafkajs waits for all of them, and the refresh of the
 * metadata waits for it.
 */
export function patchSilence(prototype: object): void {
  const { waitForPendingRequests } = prototype as RequestQueue
  Object.assign(prototype, {
    scheduleRequestTimeoutCheck(this: RequestQueue) {
      if (!this.enforceRequestTimeout) return
      this.destroy()
      this.silentMs = 0
      let checkedAt = Date.now()
      this.requestTimeoutIntervalId = setInterval(() => {
        const passed = Math.min(Math.max(Date.now() - checkedAt, 0), 2 * checkMs)
        checkedAt = Date.now()
        check(this, passed)
      }, checkMs)
    },
    waitForPendingRequests(this: RequestQueue) {
      const late = new Promise<void>(resolve => void setTimeout(resolve, endMs).unref())
      return Promise.race([waitForPendingRequests.call(this), late])
    },
  })
}

function check(queue: RequestQueue, passedMs: number): void {
  const requests = [...queue.inflight.values()]
  queue.silentMs = requests.length === 0 ? 0 : (queue.silentMs ?? 0) + passedMs
  const limitMs = Math.max(...requests.map(limitOf))
  if (requests.length > 0 && queue.silentMs > limitMs) {
    queue.silentMs = 0
    avoided.set(queue.broker, Date.now() + avoidMs)
    queue.giveUp?.(new Error(`${queue.broker} has not answered for ${limitMs / 1_000} s`))
  }
  for (const request of requests) {
    if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest()
  }
  if (!queue.isConnected()) queue.destroy()
}

/** Kafka answers the requests of a connection one after the other, so the slowest one counts. */
const limitOf = ({ entry, requestTimeout }: Request): number => limits.get(entry.apiKey) ?? requestTimeout

type Broker = {
  isConnected(): boolean
  connectionPool: { host: string; port: number; pool: { requestQueue: RequestQueue }[] }
}
type BrokerPool = {
  brokers: Record<string, Broker>
  seedBroker: Broker
  metadataExpireAt: number | null
  connect(): Promise<void>
  findBroker(of: { nodeId: string }): Promise<Broker>
}
type Ask<T> = (of: { nodeId: string; broker: Broker }) => Promise<T>

/**
 * Sends what any broker can answer (metadata, the group's coordinator) to brokers that answer. kafkajs 2.2.4 chooses at
 * random among all with an open connection, and gives up if it cannot connect to one of them.
 */
export function patchBrokerPool(
  prototype: BrokerPool,
  KafkaJSBrokerNotFound: new (message: string) => Error,
  createErrorFromCode: (code: number) => Error,
): void {
  const { findBroker } = prototype
  Object.assign(prototype, {
    /** The leader of a partition without one (metadata.ts) does not count as a broker out of reach. */
    async findBroker(this: BrokerPool, of: { nodeId: string }): Promise<Broker> {
      if (of.nodeId !== noLeader) return findBroker.call(this, of)
      this.metadataExpireAt = null
      throw createErrorFromCode(leaderNotAvailable)
    },

    async findConnectedBroker(this: BrokerPool): Promise<Broker> {
      for (const nodeId of inOrder(this.brokers)) {
        const broker = await this.findBroker({ nodeId }).catch(() => undefined)
        if (broker !== undefined) return broker
      }
      await this.connect()
      return this.seedBroker
    },

    async withBroker<T>(this: BrokerPool, ask: Ask<T>): Promise<T | null> {
      const nodeIds = inOrder(this.brokers)
      let failure: Error | undefined = new KafkaJSBrokerNotFound('No brokers in the broker pool')
      for (const nodeId of nodeIds) {
        try {
          const broker = await this.findBroker({ nodeId })
          failure = undefined
          const answer = ask({ nodeId, broker })
          // The next broker is asked meanwhile; these questions change nothing.
          return await (nodeId === nodeIds.at(-1) ? answer : timeout(nextMs, answer))
        } catch (error) {
          if (failure !== undefined) failure = error as Error
        }
      }
      if (failure === undefined) return null // as kafkajs
      throw failure
    },
  })
}

/** Connected brokers that answer, then those that may, then those that do not. */
function inOrder(brokers: Record<string, Broker>): string[] {
  const rank = (nodeId: string): number => {
    const broker = brokers[nodeId] as Broker
    const { host, port, pool } = broker.connectionPool
    const isSilent = pool.some(({ requestQueue }) => (requestQueue.silentMs ?? 0) > suspectMs)
    if (isSilent || isAvoided(`${host}:${port}`)) return 2
    return broker.isConnected() ? 0 : 1
  }
  const ranked = Object.keys(brokers).map(nodeId => ({ nodeId, rank: rank(nodeId) + Math.random() / 2 }))
  return ranked.sort((one, other) => one.rank - other.rank).map(({ nodeId }) => nodeId)
}

const pendingCheckMs = 10
/** Longer than brokers usually throttle. After a clock is set back, `throttledUntil` may be hours away. */
const mostThrottledMs = 30_000

/**
 * Stops kafkajs 2.2.4 from re-arming a timer about every millisecond, forever, on each connection that has nothing to
 * send (issues 1704, 1751): `throttledUntil` starts at -1, so the delay is negative, which Node takes as 1 ms and
 * answers with a TimeoutNegativeWarning. The patch is the one from the comments of pull request 1768: nothing pending
 * and no throttling means no timer. Cutting the delay off at 0, as other pull requests do, hides the warning and keeps
 * the loop.
 */
export function patchRequestQueue(prototype: object): void {
  Object.assign(prototype, {
    scheduleCheckPendingRequests(this: RequestQueue) {
      if (this.throttleCheckTimeoutId) return
      this.throttledUntil = Math.min(this.throttledUntil, Date.now() + mostThrottledMs)
      const throttledMs = this.throttledUntil - Date.now()
      if (throttledMs <= 0 && this.pending.length === 0) return
      this.throttleCheckTimeoutId = setTimeout(
        () => {
          this.throttleCheckTimeoutId = null
          this.checkPendingRequests()
        },
        throttledMs > 0 ? throttledMs : pendingCheckMs,
      )
    },
  })
}
