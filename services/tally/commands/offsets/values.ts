import { UsageError } from '../../failure.ts'

export function partitionOption(text: string): number {
  return wholeOf('PARTITION', text)
}

export function offsetOf(text: string): number {
  return wholeOf('--to', text)
}

function wholeOf(name: string, text: string): number {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(value)) return value
  throw new UsageError(`${name} takes a whole number from 0, got ${JSON.stringify(text)}`)
}
