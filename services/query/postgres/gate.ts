import { deadline } from '@tally/platform'

/** Too many reads wait for Postgres, or this one waited too long: the answer is a 503. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'
  constructor() {
    super('too many reads are waiting for Postgres')
  }
}

export type GateOptions = {
  /** Work that runs at once. */
  places: number
  /** Work of one organization that runs at once: less, so that others soon find a place. */
  placesOfOne: number
  /** Work of one organization that may wait. */
  waitingOfOne: number
  waitMs: number
}

export type Gate = {
  /** Runs the work once there is a place; rejects with Overloaded if none becomes free in time. */
  enter<Result>(organizationId: string, work: () => Promise<Result>): Promise<Result>
}

type Waiting = { begin: () => void }

/** Bounds how much work runs at once, and serves waiting organizations in turn, so that none can slow the others. */
export function createGate({ places, placesOfOne, waitingOfOne, waitMs }: GateOptions): Gate {
  let free = places
  const running = new Map<string, number>()
  /** Organizations in the order in which they are served next. */
  const queues = new Map<string, Waiting[]>()

  const take = (organizationId: string, change: 1 | -1) => {
    free -= change
    const count = (running.get(organizationId) ?? 0) + change
    if (count === 0) running.delete(organizationId)
    else running.set(organizationId, count)
  }
  const mayRun = (organizationId: string) => free > 0 && (running.get(organizationId) ?? 0) < placesOfOne

  const leave = (organizationId: string, waiting: Waiting) => {
    const rest = (queues.get(organizationId) ?? []).filter(other => other !== waiting)
    queues.delete(organizationId)
    if (rest.length > 0) queues.set(organizationId, rest)
  }
  const beginNext = () => {
    for (const [organizationId, [first]] of [...queues]) {
      if (first === undefined || !mayRun(organizationId)) continue
      leave(organizationId, first)
      first.begin()
    }
  }

  const wait = (organizationId: string): Promise<void> => {
    const queue = queues.get(organizationId) ?? []
    if (queue.length >= waitingOfOne) return Promise.reject(new Overloaded())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const cancel = deadline(performance.now(), waitMs, () => {
      leave(organizationId, waiting)
      reject(new Overloaded())
    })
    const waiting = {
      begin() {
        cancel()
        take(organizationId, 1)
        resolve()
      },
    }
    queue.push(waiting)
    queues.set(organizationId, queue)
    return promise
  }

  return {
    async enter(organizationId, work) {
      if (mayRun(organizationId) && !queues.has(organizationId)) take(organizationId, 1)
      else await wait(organizationId)
      try {
        return await work()
      } finally {
        take(organizationId, -1)
        beginNext()
      }
    },
  }
}
