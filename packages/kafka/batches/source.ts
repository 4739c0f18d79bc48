import { setImmediate as nextTurn } from 'node:timers/promises'

type Pieces = Iterable<Buffer> | AsyncIterable<Buffer>

/** Unpacking that does not wait by itself makes room for heartbeats after so long. */
const LONGEST_STRETCH_MS = 20

/** Bytes that come piece by piece, and of which only what is asked for is held. */
export class Source {
  readonly #pieces: AsyncIterator<Buffer> | Iterator<Buffer>
  /** What of the last piece was not taken yet: good until the next one is asked for. */
  #rest: Buffer = Buffer.alloc(0)
  #turnBegan = performance.now()

  constructor(pieces: Pieces) {
    this.#pieces = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  }

  /** What is there without waiting: to be read at once, and then `take`n. */
  get ready(): Buffer {
    return this.#rest
  }

  take(length: number): void {
    this.#rest = this.#rest.subarray(length)
  }

  /** Makes so many bytes ready, or all that are left. */
  async fill(length: number): Promise<void> {
    if (this.#rest.length >= length) return
    const gathered = [Buffer.from(this.#rest)]
    let bytes = this.#rest.length
    while (bytes < length && (await this.#pull())) {
      gathered.push(Buffer.from(this.#rest))
      bytes += this.#rest.length
    }
    this.#rest = Buffer.concat(gathered)
  }

  /** Takes so many bytes without holding them. Throws where there are fewer. */
  async pass(length: number, look: (piece: Buffer) => void = () => {}): Promise<void> {
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
    if (performance.now() - this.#turnBegan > LONGEST_STRETCH_MS) {
      await nextTurn()
      this.#turnBegan = performance.now()
    }
    const { done, value } = await this.#pieces.next()
    this.#rest = done ? Buffer.alloc(0) : value
    return !done
  }
}

/** Bytes that are not packed, as pieces. */
export function* inPieces(bytes: Buffer): Generator<Buffer> {
  const length = 256 * 1024
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}
