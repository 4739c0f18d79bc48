/**
 * Over HTTP/1.1 a browser opens six connections to a host, for all its windows together. Four windows keep a stream
 * open; two connections are left for pages, and for the windows beyond four, which take turns.
 */
const most = 4
/** A window that holds a slot says so every second. One that has crashed holds it for this long. */
const heldMs = 5_000

/** The slots of a browser's windows, which find each other through `storage`; `id` names this window. */
export function createSlot(storage, id, now = Date.now) {
  const keyOf = index => `tally-stream-${index}`
  const read = index => {
    const [holder, at] = (storage.getItem(keyOf(index)) || '').split(' ')
    // The clock may have been set back.
    return { holder, isFree: !(Math.abs(now() - Number(at)) < heldMs) }
  }

  return {
    /** Takes a slot or keeps it; false if other windows have all of them. */
    hold() {
      try {
        const slots = Array.from({ length: most }, (_, index) => ({ index, ...read(index) }))
        const slot = slots.find(({ holder }) => holder === id) || slots.find(({ isFree }) => isFree)
        if (slot === undefined) return false
        storage.setItem(keyOf(slot.index), `${id} ${now()}`)
        return true
      } catch {
        // Without storage, windows cannot find each other: most browsers show one.
        return true
      }
    },
    release() {
      try {
        for (let index = 0; index < most; index++)
          if (read(index).holder === id) storage.removeItem(keyOf(index))
      } catch {
        // Nothing is held.
      }
    },
  }
}
