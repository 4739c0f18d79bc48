import { once } from 'node:events'

/** Writes lines to stdout and waits for the reader: there may be more than fit in memory. */
export async function write(lines: string[]): Promise<void> {
  if (lines.length === 0) return
  if (!process.stdout.write(`${lines.join('\n')}\n`)) await once(process.stdout, 'drain')
}
