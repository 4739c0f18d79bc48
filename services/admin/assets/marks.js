/** How long a mark stays after the last change. While changes go on it stays as it is, so that nothing flashes. */
const markedMs = 1_000

/** Marks elements that have changed, with a dot next to each: the number itself never changes its look. */
export function openMarks() {
  const timers = new Map()
  return element => {
    clearTimeout(timers.get(element))
    element.classList.add('changed')
    timers.set(
      element,
      setTimeout(() => element.classList.remove('changed'), markedMs),
    )
  }
}
