import { type Answer, type OperationName, type Parameters, paths } from './operations.ts'
import { type Options, openRequest } from './request.ts'
import { type Reading, type WatchOptions, watch } from './watch.ts'

type Given<Fields, More> =
  Record<string, never> extends Fields
    ? [parameters?: Fields, more?: More]
    : [parameters: Fields, more?: More]
type Calls = {
  [Name in OperationName]: (
    ...given: Given<Parameters<Name>, { signal?: AbortSignal }>
  ) => Promise<Answer<Name>>
}

export type Client = Calls & {
  /**
   * Repeats an operation and yields a reading after every request, until `signal` aborts. Outages and the rate limit
   * are part of a reading. Throws TallyProblem for an error that waiting does not mend, such as a revoked key.
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
  const request = openRequest(options)
  const call = (name: OperationName) => (parameters?: object, more?: { signal?: AbortSignal }) =>
    request(name, parameters ?? {}, more).then(({ body }) => body)
  const names = Object.keys(paths) as OperationName[]
  return {
    ...(Object.fromEntries(names.map(name => [name, call(name)])) as unknown as Calls),
    watch: (name, parameters, watchOptions) => watch(request, name, parameters, watchOptions),
  }
}
