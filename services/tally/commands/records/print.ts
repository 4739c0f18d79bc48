import type { RecordFinding } from '@tally/projection'
import { printMany } from '../../output.ts'

/** Where a record is: a line of a file, or a place in Kafka. */
type At = { line: number } | { topic: string; partition: number; offset: number }

/** A finding about a record, or about a line that is none. */
type Found = {
  type?: string
  reason: RecordFinding['reason'] | 'line'
  field: string
  takes: string
  advice?: string
}

const columns = (at: string, type: string, reason: string, field: string, takes: string): string =>
  `${at.padEnd(24)}  ${type.padEnd(13)}  ${reason.padEnd(12)}  ${field.padEnd(20)}  ${takes}`

/** Opens the printer of findings, as columns or one JSON object per line. If there are any, the exit status is 1. */
export function createPrinter(asJson: boolean) {
  let isFirst = true
  return async (at: At, found: Found[]): Promise<void> => {
    if (found.length === 0) return
    process.exitCode = 1
    const lines = found.map(one => (asJson ? JSON.stringify({ ...at, ...one }) : lineOf(at, one)))
    if (isFirst && !asJson) lines.unshift(columns('AT', 'TYPE', 'REASON', 'FIELD', 'TAKES'))
    isFirst = false
    await printMany(lines)
  }
}

function lineOf(at: At, { type = '', reason, field, takes, advice }: Found): string {
  const place = 'line' in at ? `line ${at.line}` : `${at.topic}-${at.partition}-${at.offset}`
  return columns(place, type, reason, field, advice === undefined ? takes : `${takes}. ${advice}`)
}
