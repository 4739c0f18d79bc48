import { openMarks } from './marks.js'

const mark = openMarks()
const known = new WeakSet()

/** Makes an element; strings become text, never markup. */
export function element(name, className, ...children) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...children)
  return made
}

/** Sets a number's text if it changes, and marks it if it has changed before. */
export function put(target, text) {
  if (target.textContent === text && known.has(target)) return
  if (known.has(target)) mark(target)
  known.add(target)
  target.textContent = text
}
