/** Calls a function with the latest argument, at once or as soon as `ms` have passed since the last call. */
export function calmly(ms, act) {
  let waiting
  let isWaiting = false
  const open = () => {
    isWaiting = waiting !== undefined
    if (!isWaiting) return
    const [next] = waiting
    waiting = undefined
    setTimeout(open, ms)
    act(next)
  }
  return next => {
    waiting = [next]
    if (!isWaiting) open()
  }
}
