import type { ApiKey } from '@tally/access'
import type { EndpointName, endpoints } from '@tally/contract'
import type { Seen } from '@tally/views'
import type { z } from 'zod'
import type { Answer } from '../http/answer.ts'
import type { Permit } from '../permit.ts'
import type { Readers } from '../readers.ts'

/**
 * The input of a read: the key that asks, the parameters as the contract parses them, the rate limit's permit, and what
 * the request's batch has read of the event already.
 */
type Asked<Name extends EndpointName> = {
  key: ApiKey
  params: z.output<(typeof endpoints)[Name]['params']>
  query: z.output<(typeof endpoints)[Name]['query']>
  permit: Permit
  seen?: Seen | null | undefined
}

/**
 * One endpoint: its name in the contract and its read. `early` reads cost so little that they begin before the rate
 * limit has answered, in the same round trip to Redis; whatever costs more waits for its permit.
 */
export type EndpointRead<Name extends EndpointName = EndpointName> = {
  name: Name
  early: boolean
  read(readers: Readers, asked: Asked<Name>): Promise<Answer>
}

/** Binds a read to its endpoint; `index.ts` lists all of them. */
export function endpointRead<Name extends EndpointName>(read: EndpointRead<Name>): EndpointRead {
  return read as unknown as EndpointRead
}
