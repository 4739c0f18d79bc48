import type { CeilingMessage } from '../run/ceiling.ts'

/** Reports to the bench. A ceiling whose bench is gone ends. */
export function report(message: CeilingMessage): void {
  process.send?.(message)
}

process.on('disconnect', () => process.exit(1))

/** A setting from the bench. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`the bench did not set ${name}`)
  return value
}
