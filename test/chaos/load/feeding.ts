import { setTimeout as sleep } from 'node:timers/promises'
import { openProducer, topicNames } from '@tally/kafka'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { type Book, openBook } from '../checks/book.ts'
import { type Journal, openJournal } from '../checks/journal.ts'
import { prefix, type System } from '../system/system.ts'
import type { Load } from './load.ts'

const tickMs = 50

/** Sends the load to Kafka. */
export type Feeding = {
  book: Book
  journal: Journal
  /** How many records Kafka has. */
  sent: () => number
  /** Resumes sending. */
  resume: () => void
  /** Stops sending; resolves when Kafka has all of it, with the moment of the last one (epoch milliseconds). */
  pause: () => Promise<number>
  send: (records: { record: TestRecord; isBad: boolean }[]) => Promise<void>
  /** Notes good records that another sender is about to send; returns a function to call once Kafka has them. */
  note: (records: TestRecord[]) => () => void
  close: () => Promise<void>
}

/** Sends the load at `rate` records a second, in its order. What is not acknowledged is sent again: none is missing. */
export async function openFeeding(system: System, load: Load, rate: number): Promise<Feeding> {
  const producer = await openProducer(system.kafka)
  const book = openBook()
  const journal = openJournal()
  let sent = 0
  let lastAt = Date.now()
  let running: Promise<void> | undefined
  let wanted = false
  let closed = false

  const note: Feeding['note'] = records => {
    for (const record of records) book.add(record)
    const acknowledge = journal.send(records)
    return () => {
      sent += records.length
      lastAt = Date.now()
      acknowledge(lastAt)
    }
  }

  const send: Feeding['send'] = async records => {
    const good = records.filter(({ isBad }) => !isBad).map(({ record }) => record)
    const acknowledge = note(good)
    const outgoing = records.map(({ record }) => outgoingOf(record))
    for (;;) {
      try {
        await producer.send(outgoing)
        break
      } catch (error) {
        if (closed) throw error
        await sleep(200)
      }
    }
    sent += records.length - good.length
    acknowledge()
  }

  const run = async () => {
    let due = performance.now()
    while (wanted) {
      await send(load.take(Math.max(1, Math.round((rate * tickMs) / 1000))))
      due = Math.max(due + tickMs, performance.now() - 5 * tickMs)
      await sleep(Math.max(1, due - performance.now()))
    }
  }
  return {
    book,
    journal,
    sent: () => sent,
    resume() {
      wanted = true
      running ??= run()
    },
    async pause() {
      wanted = false
      await running
      running = undefined
      return lastAt
    },
    send,
    note,
    async close() {
      wanted = false
      closed = true
      await running?.catch(() => {})
      await producer.close()
    },
  }
}

/** Waits until Kafka has this many records. */
export async function untilSent(feeding: Feeding, records: number): Promise<void> {
  while (feeding.sent() < records) await sleep(20)
}

/** A record as a producer sends it; by default with the right key. */
export function outgoingOf({ type, value, key, headers = {} }: TestRecord) {
  return {
    topic: topicNames(prefix)[type],
    key: key === undefined ? keyOf(type, value) : key,
    headers,
    value: value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value),
  }
}

function keyOf(type: TestRecord['type'], value: { organizationId?: string; eventId?: string }): string {
  return String(type === 'organizations' ? value.organizationId : value.eventId).toLowerCase()
}
