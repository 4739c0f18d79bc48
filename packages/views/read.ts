import type { EventId } from '@tally/contract'
import type { DocumentName, StoredEvent } from '@tally/figures'
import type { EventVersion, ReadVersion, ShardHash } from '@tally/publication'

/** An event at one revision. */
export type Head = { eventId: EventId; revision: number; event: StoredEvent }

/** What is enough of it to tell whether remembered answers still hold. */
export type KnownHead = Omit<Head, 'event'> & { event: { shard: number; isScattered?: true | undefined } }

/** Documents by name, as JSON; an empty text is a document without orders. */
export type DocumentTexts = Map<DocumentName, string>

/** Which documents of an event at a revision are still needed to compose the answer. */
export type Needs = (event: StoredEvent, revision: number) => DocumentName[]

/** The result of a read: the event, the needed documents, and the watermark up to which they are complete. */
export type Read = Omit<ReadVersion, 'revision'> & { head: Head; documents: DocumentTexts }

/** A read without the event's record and documents. */
export type KnownRead = Pick<Read, 'asOfMs' | 'epochs'> & { head: KnownHead }

/** The hash of a shard and, read after it, the version of one of its events. */
export type Seen = { shard: number; hash: ShardHash; version: EventVersion }

/** A read of an event that has not changed since `head` was read, and of which no document is needed. */
export const remembered = <Known extends KnownHead>(
  head: Known,
  shard: ShardHash,
  { epoch }: EventVersion,
) => ({
  head,
  documents: noDocuments,
  asOfMs: shard.asOfMs,
  epochs: { documents: epoch, asOf: shard.epoch },
})
const noDocuments: DocumentTexts = new Map()
