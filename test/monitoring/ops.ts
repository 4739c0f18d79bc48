import type { TallyProcess } from '@tally/testkit/processes/process'

/** The address of a process's operations port. */
export async function opsOf(process: TallyProcess | undefined): Promise<string> {
  const line = await process?.line(({ ops }) => ops !== undefined)
  return String(line?.ops)
}
