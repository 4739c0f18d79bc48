/**
 * Waits for one reply. It is settled once; what comes later changes nothing. A poll reads `reply` when its batch is
 * over, so the promise is made only for those that ask for it.
 */
export class Waiter<Reply> {
  /** Undefined until the reply is there, and if it is an error. */
  reply: Reply | undefined
  #state: 'waits' | 'resolved' | 'rejected' = 'waits'
  #error: unknown
  #resolvers: PromiseWithResolvers<Reply> | undefined

  get promise(): Promise<Reply> {
    if (this.#resolvers === undefined) {
      this.#resolvers = Promise.withResolvers<Reply>()
      this.#notify()
    }
    return this.#resolvers.promise
  }

  resolve(reply: Reply): void {
    if (this.#state !== 'waits') return
    this.#state = 'resolved'
    this.reply = reply
    this.#notify()
  }

  reject(error: unknown): void {
    if (this.#state !== 'waits') return
    this.#state = 'rejected'
    this.#error = error
    this.#notify()
  }

  #notify(): void {
    if (this.#state === 'resolved') this.#resolvers?.resolve(this.reply as Reply)
    if (this.#state === 'rejected') this.#resolvers?.reject(this.#error)
  }
}
