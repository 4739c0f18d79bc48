import type { Environment } from '@tally/testkit/processes/process'
import { openRelay } from '@tally/testkit/servers/relay'
import type { Installation } from './installation.ts'

/** Called after the test, in reverse order. */
export type Undo = (step: () => unknown) => void

/** A fault of an installation: `make` causes it and returns settings that differ; `line` alone is not ok then. */
export type Break = {
  line: string
  what: string
  /** What that line says, with what to do. */
  says?: RegExp
  make: (of: Installation, undo: Undo) => Promise<Environment> | Environment
}

/** The address of a server whose answers are changed on their way; the changed text must be as long. */
export async function relayWithChange(
  url: string,
  { from, to, undo }: { from: RegExp; to: string; undo: Undo },
): Promise<string> {
  const toClient = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1')
  const relay = await openRelay(url, { toClient })
  undo(relay.close)
  return relay.through(url)
}
