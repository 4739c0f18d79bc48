import type { FastifyRequest } from 'fastify'
import { PageProblem } from '../http/problem.ts'
import { networksOf } from './attempts.ts'

/** For whom a password is hashed: who proved something, by account, goes before strangers, by network. */
type Asker = { isKnown: boolean; from: string }

export const knownAsker = (account: string): Asker => ({ isKnown: true, from: account })
export const strangerAt = ({ ip }: FastifyRequest): Asker => ({
  isKnown: false,
  from: networksOf(ip)[0] ?? ip,
})

/** Hashes at once, of Node's four threads: a new connection to Postgres needs one too, also in a burst of sign-ins. */
const mostAtOnce = 2
/** Of each kind. Two hashes at once take 0.16 s on two cores, so that the last one waits for about 1 s. */
const mostWaiting = 10

const busy = () =>
  new PageProblem(
    503,
    'Too many sign-ins at once',
    'Your password was not checked. Try again in a few seconds.',
    5,
  )

export type PasswordQueue = ReturnType<typeof createPasswordQueue>

/** The queue of one process, in which passwords are hashed. */
export function createPasswordQueue() {
  type Waiting = { from: string; start: () => void }
  const [known, strangers]: [Waiting[], Waiting[]] = [[], []]
  let running = 0

  /**
   * Runs `work`, which hashes a password, when it is its turn. Throws a 503 if too many wait, or if one of the same
   * account or network waits already: who sends many at once does not make others wait for them. Before it throws,
   * `giveBack` takes back the attempt that was counted: the queue may be full of other people's attempts.
   */
  return async <Result>(
    { isKnown, from }: Asker,
    work: () => Promise<Result>,
    giveBack?: () => Promise<unknown>,
  ): Promise<Result> => {
    if (running < mostAtOnce) running += 1
    else {
      const queue = isKnown ? known : strangers
      if (queue.length === mostWaiting || queue.some(waiting => waiting.from === from)) {
        await giveBack?.()
        throw busy()
      }
      await new Promise<void>(start => queue.push({ from, start }))
    }
    try {
      return await work()
    } finally {
      const next = known.shift() ?? strangers.shift()
      if (next === undefined) running -= 1
      else next.start()
    }
  }
}
