/** The part of kafkajs's Decoder that is used here. */
type Decoder = {
  readInt32(): number
  readBytes(length: number): Buffer
  canReadBytes(length: number): boolean
}

/**
 * Keeps the records of each partition of a fetch as raw bytes. It replaces kafkajs 2.2.4's decoder, which unpacks and
 * decodes all of them before anything else sees the answer; batches/ does that partition by partition.
 */
export async function keepBytes(decoder: Decoder): Promise<Buffer> {
  const length = decoder.readInt32()
  return length > 0 && decoder.canReadBytes(length) ? decoder.readBytes(length) : Buffer.alloc(0)
}
