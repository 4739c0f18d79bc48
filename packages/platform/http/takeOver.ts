import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/**
 * Takes the listener off a connection that Node's HTTP, or the last to have taken it over, has put there. The result
 * does nothing once the connection is destroyed or no longer HTTP: its parser may be another connection's by then.
 */
export function takeOverFrom(socket: Socket, event: 'data' | 'end'): (bytes?: Buffer) => void {
  const listener = takeOver(socket, event)
  return bytes => {
    const { parser } = socket as Socket & { parser?: object | null }
    if (!socket.destroyed && parser != null) listener.call(socket, bytes)
  }
}

/** Takes the last listener of an event off its emitter. */
export function takeOver(emitter: EventEmitter, event: string): (...args: unknown[]) => void {
  const listener = emitter.listeners(event).at(-1)
  if (listener === undefined) throw new Error(`nothing listens to '${event}' yet`)
  emitter.off(event, listener as () => void)
  return listener as (...args: unknown[]) => void
}
