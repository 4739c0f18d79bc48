import { pathOf } from './openapi.ts'
import type { Answer, OperationName, Parameters } from './operations.ts'
import { createRequest, type Options } from './request.ts'
import { type Reading, type WatchOptions, watch } from './watch.ts'

type Given<Fields, More = { signal?: AbortSignal }> =
  Record<string, never> extends Fields
    ? [parameters?: Fields, more?: More]
    : [parameters: Fields, more?: More]
type Calls = {
  [Name in OperationName]: (...given: Given<Parameters<Name>>) => Promise<Answer<Name>>
}

export type Client = Calls & {
  /**
   * Repeats an operation and yields a reading after every request, until `signal` aborts. Outages and the rate limit
   * are part of a reading. Throws TypeError at once for impossible options, and TallyProblem later for an error that
   * waiting does not mend, such as a revoked key.
   */
  watch<Name extends OperationName>(
    name: Name,
    parameters: Parameters<Name>,
    options?: WatchOptions,
  ): AsyncGenerator<Reading<Answer<Name>>, void, void>
}

/**
 * A client for one key. Each operation is a function of its parameters, which resolves with `{ data, meta }`. It
 * rejects with TallyProblem for an error of the API, or with the error of `fetch` if no answer came.
 */
export function connect(options: Options): Client {
  const request = createRequest(options)
  const calls = Object.keys(pathOf).map(name => [
    name,
    async (parameters: object = {}, more?: { signal?: AbortSignal }) =>
      (await request(name as OperationName, parameters)(more)).body,
  ])
  return { ...Object.fromEntries(calls), watch: watch.bind(undefined, request) }
}
