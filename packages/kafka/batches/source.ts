import { setImmediate as yieldToOthers } from 'node:timers/promises'

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>

/** Synchronous unpacking yields after this long: each step of another partition's batch waits for it. */
const longestStretchMs = 4

/** Bytes that arrive piece by piece; only what was requested is held. */
export class Source {
  readonly #pieces: AsyncIterator<Buffer> | Iterator<Buffer>
  /** The rest of the last piece: valid until the next one is requested. */
  #rest: Buffer = Buffer.alloc(0)
  #stretchBegan = performance.now()

  constructor(pieces: Pieces) {
    this.#pieces = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  }

  /** The bytes that are available without waiting; read them at once, then `take` them. */
  get ready(): Buffer {
    return this.#rest
  }

  take(length: number): void {
    this.#rest = this.#rest.subarray(length)
  }

  /** Makes this many bytes available, or all that are left. For a few bytes: it copies what is available. */
  async fill(length: number): Promise<void> {
    while (this.#rest.length < length) {
      const before = Buffer.from(this.#rest)
      if (!(await this.#pull())) {
        this.#rest = before
        return
      }
      this.#rest = Buffer.concat([before, this.#rest])
    }
  }

  /** Takes this many bytes as a copy of their own. Throws if there are fewer. */
  async copy(length: number): Promise<Buffer> {
    const copied = Buffer.allocUnsafeSlow(length)
    let at = 0
    await this.pass(length, piece => {
      at += piece.copy(copied, at)
    })
    return copied
  }

  /** Takes this many bytes without holding them. Throws if there are fewer. */
  async pass(length: number, look: (piece: Buffer) => void): Promise<void> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#pull())) throw new Error('its records end too early')
      const piece = this.#rest.subarray(0, left)
      look(piece)
      this.take(piece.length)
      left -= piece.length
    }
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  async #pull(): Promise<boolean> {
    if (performance.now() - this.#stretchBegan > longestStretchMs) {
      await yieldToOthers()
      this.#stretchBegan = performance.now()
    }
    const { done, value } = await this.#pieces.next()
    this.#rest = done ? Buffer.alloc(0) : value
    return !done
  }
}

/** Uncompressed bytes, as pieces. */
export function* inPieces(bytes: Buffer): Generator<Buffer> {
  const length = 256 * 1024
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}
