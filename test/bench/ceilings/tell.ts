import type { Told } from '../run/ceiling.ts'

/** Tells the bench; a ceiling that has lost its bench ends. */
export function tell(word: Told): void {
  process.send?.(word)
}

process.on('disconnect', () => process.exit(1))

/** A setting that the bench gave. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`the bench gives no ${name}`)
  return value
}
