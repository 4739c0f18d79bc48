/** How long a mark stays after the last change. While changes go on it stays as it is, so that nothing flashes. */
const markedMs = 1_000

/**
 * Marks figures that have changed, with a dot next to each: the number itself never changes its look. Call the result
 * with the key and the text of each figure, also of one that is not shown, and with its element if it is.
 */
export function createMarks() {
  const timers = new Map()
  const known = new Map()
  return (key, text, element) => {
    const isNews = known.has(key) && known.get(key) !== text
    known.set(key, text)
    if (!isNews || !element) return
    clearTimeout(timers.get(key))
    element.setAttribute('data-changed', '')
    const unmark = () => element.removeAttribute('data-changed')
    timers.set(key, setTimeout(unmark, markedMs))
  }
}
