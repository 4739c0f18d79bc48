import type { ApiKey } from '@tally/access'
import type { EndpointName, endpoints } from '@tally/contract'
import type { Seen } from '@tally/views'
import type { z } from 'zod'
import type { Answer } from '../http/answer.ts'
import type { Allowance } from '../limits/limitDecision.ts'
import type { Readers } from '../views/readers.ts'

/**
 * The input of a read: the key that asks, the parameters as the contract parses them, the rate limit's allowance, and
 * what the request's batch has read of the event already.
 */
type Asked<Name extends EndpointName> = {
  key: ApiKey
  params: z.output<(typeof endpoints)[Name]['params']>
  query: z.output<(typeof endpoints)[Name]['query']>
  allowance: Allowance
  seen?: Seen | null | undefined
}

/**
 * Answers one endpoint. `early` reads cost so little that they begin before the rate limit has answered, in the same
 * round trip to Redis; whatever costs more waits for its allowance.
 */
export type Handler<Name extends EndpointName = EndpointName> = {
  early: boolean
  read(readers: Readers, asked: Asked<Name>): Promise<Answer>
}
