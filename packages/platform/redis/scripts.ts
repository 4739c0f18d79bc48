/**
 * A Lua script, whose file name `<name>.<number of keys>.lua` has the number of its keys. If that is `n`, the number is
 * the first argument of each call.
 */
export type Script<Call> = {
  file: URL
  /** Prepended to the script, in this order. */
  preludes: URL[]
  /** The type of the call; never set. */
  call?: Call
}

export type ScriptSet = Record<string, Script<unknown>>

/** The methods that a client has for these scripts. */
export type ScriptCalls<Scripts extends ScriptSet> = {
  [Name in keyof Scripts]: Scripts[Name] extends Script<infer Call> ? Call : never
}

/** Describes a script; `openRedis` reads its file. */
export const script = <Call>(file: URL, ...preludes: URL[]): Script<Call> => ({ file, preludes })

/** Undefined if each call says how many keys follow. Throws if the file's name has neither the number nor `n`. */
export function numberOfKeys(file: URL): number | undefined {
  const keys = /\.(\d+|n)\.lua$/.exec(file.pathname)?.[1]
  if (keys === undefined)
    throw new Error(`the name of a script must end in the number of its keys: ${file.pathname}`)
  return keys === 'n' ? undefined : Number(keys)
}
