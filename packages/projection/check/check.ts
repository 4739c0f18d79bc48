import { type RecordType, type RejectionReason, schemaIssues } from '@tally/contract'
import type { RejectedAt } from '@tally/dead-letters'
import { type KafkaRecord, partitionOf, type RecordBatch } from '@tally/kafka'
import { judgeBatch } from '../judge/judgeBatch.ts'
import { createKept } from './kept.ts'
import { type Mistake, mistakeBehind, wrongPartitioner } from './mistakes.ts'

/** What is wrong with a record: the reason of its rejection, the field and what it takes. Never a value. */
export type RecordFinding = {
  type: RecordType
  partition: number
  offset: number
  /** `partition`: the record counts, but another partitioner has chosen its partition. */
  reason: RejectionReason | 'partition'
  field: string
  takes: string
} & Partial<Mistake>

export type Counts = { records: number; rejected: number; misplaced: number }

/**
 * Opens a check of records by the judgement of the projector, without storing anything. `check` returns what is wrong
 * with a batch, in the order of its records, with all wrong fields of each; `partitions` is how many the topic has, if
 * the records' partition is to be judged too. It remembers what was said of each entity (kept.ts), which decides a
 * `conflict` and a `contradiction`.
 */
export function createCheck() {
  const counts: Counts = { records: 0, rejected: 0, misplaced: 0 }
  const kept = createKept()

  const check = (type: RecordType, batch: RecordBatch, partitions?: number): RecordFinding[] => {
    const { partition, records } = batch
    const { good, rejected } = judgeBatch(type, batch, {})
    const reasons = new Map(
      [...rejected, ...kept.judge(type, good)].map(({ offset, rejected }) => [offset, rejected]),
    )
    const findings: RecordFinding[] = []
    for (const record of records) {
      const at = { type, partition, offset: record.offset }
      const reason = reasons.get(record.offset)
      if (reason !== undefined) {
        counts.rejected += 1
        findings.push(...explained(type, reason, record).map(found => ({ ...at, ...found })))
      } else if (partitions !== undefined && isMisplaced(record, partition, partitions)) {
        counts.misplaced += 1
        findings.push({ ...at, ...misplaced, ...wrongPartitioner() })
      }
    }
    counts.records += records.length
    return findings
  }
  return { check, counts }
}

const misplaced = {
  reason: 'partition',
  field: 'partition',
  takes: 'must be murmur2 of the key, modulo the number of partitions',
} as const

const isMisplaced = ({ key }: KafkaRecord, partition: number, partitions: number): boolean =>
  key !== null && partitionOf(key, partitions) !== partition

/** The fields that are named of one record: it may have 500 lines with five each. */
const mostFields = 100

/** What is wrong with a rejected record: one finding, or one for each field that breaks its schema. */
function explained(type: RecordType, { reason, message }: RejectedAt['rejected'], record: KafkaRecord) {
  const mistake = mistakeBehind(type, reason, record)
  const issues = reason === 'schema' ? schemaIssues(type, record.value, mostFields) : []
  // Behind an envelope every field is missing: that says nothing.
  if (issues.length > 0 && mistake === undefined)
    return issues.map(({ field, takes }) => ({ reason, field: field || 'value', takes }))
  // A message about a field begins with its path and a colon (packages/contract/records/decode.ts).
  const [, path, takes] = /^([^:]+): (.*)$/s.exec(message) ?? []
  const names = reason === 'schema' || reason === 'conflict' || reason === 'contradiction'
  const field = names && path !== undefined && path !== 'the value' ? path : (fieldOf[reason] ?? 'value')
  return [{ reason, field, takes: names && takes ? takes : message, ...mistake }]
}

const fieldOf: Partial<Record<RejectionReason, string>> = { 'key-mismatch': 'key' }
