import { backoffMs } from './backoff.js'
import { createSlot } from './slot.js'

/** A beat arrives every second. After this long without one the connection may be one that no longer leads anywhere. */
const silentMs = 10_000
/** How long a window without a slot waits between two turns. */
const turnMs = 1_000

/**
 * Follows a stream of server-sent events while the page is visible: a hidden page has no connection. After a stream
 * breaks, is refused or falls silent it is opened again, with growing pauses until there are figures. `on` gets
 * `day` and `beat` with their data, `failed` when an attempt has failed, `hidden`, and `over` when Tally says that the
 * stream may not go on.
 */
export function follow(url, on) {
  const id = String(Math.random()).slice(2)
  const slot = createSlot(storageOf(window), id)
  let attempts = 0
  let source
  let timer

  const close = () => {
    if (source !== undefined) source.close()
    clearTimeout(timer)
  }
  const openIn = ms => {
    close()
    timer = setTimeout(open, ms)
  }
  const fail = () => {
    on.failed()
    openIn(backoffMs(attempts++))
  }
  const expectBeat = () => {
    clearTimeout(timer)
    timer = setTimeout(fail, silentMs)
  }

  function open() {
    close()
    slot.hold()
    source = new EventSource(url)
    expectBeat()
    source.addEventListener('day', ({ data }) => on.day(JSON.parse(data)))
    source.addEventListener('beat', ({ data }) => {
      attempts = 0
      on.beat(JSON.parse(data))
      if (slot.hold()) expectBeat()
      else openIn(turnMs)
    })
    source.addEventListener('signed-out', () => {
      close()
      on.over()
    })
    source.addEventListener('error', fail)
  }

  const stop = () => {
    close()
    slot.release()
    on.hidden()
  }
  const begin = () => {
    attempts = 0
    if (document.hidden) stop()
    else open()
  }
  document.addEventListener('visibilitychange', begin)
  addEventListener('pagehide', stop)
  // The page comes back from the history as it was left.
  addEventListener('pageshow', ({ persisted }) => persisted && begin())
  addEventListener('online', begin)
  begin()
}

/** Reading `localStorage` throws where a browser allows none. */
function storageOf(window) {
  try {
    return window.localStorage
  } catch {
    return undefined
  }
}
