const idleMs = 3_000

/** Marks an element as idle when the pointer has not moved and no key was pressed for 3 s. */
export function hideWhenIdle(element) {
  let timer
  const wake = event => {
    // Browsers send moves of a pointer that rests when the page under it changes.
    if (event && event.movementX === 0 && event.movementY === 0 && event.type === 'pointermove') return
    element.classList.remove('idle')
    clearTimeout(timer)
    timer = setTimeout(() => element.classList.add('idle'), idleMs)
  }
  for (const name of ['pointermove', 'pointerdown', 'keydown', 'focusin'])
    document.addEventListener(name, wake)
  wake()
}
