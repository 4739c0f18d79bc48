/** A script that takes away what Chrome 90, Safari 14.1 and Firefox 90 lack. CSS: oldBrowser.unit.test.ts. */
export const oldBrowser = `
  for (const [of, ...names] of [
    [AbortSignal, 'timeout', 'any'],
    [URL, 'canParse', 'parse'],
    [Promise, 'withResolvers', 'try'],
    [Object, 'hasOwn', 'groupBy'],
    [Map, 'groupBy'],
    [Array, 'fromAsync'],
    [Array.prototype, 'at', 'findLast', 'findLastIndex', 'toSorted', 'toReversed', 'toSpliced', 'with'],
    [String.prototype, 'at', 'isWellFormed', 'toWellFormed'],
    [Set.prototype, 'union', 'intersection', 'difference', 'isSubsetOf'],
    [URLSearchParams.prototype, 'size'],
    [Element.prototype, 'setHTMLUnsafe', 'checkVisibility', 'ariaHidden', 'ariaPressed', 'ariaLabel', 'ariaExpanded'],
    [HTMLElement.prototype, 'showPopover', 'popover'],
    [globalThis, 'structuredClone', 'BroadcastChannel', 'SharedWorker', 'scheduler', 'navigation', 'reportError'],
    [Navigator.prototype, 'locks', 'userActivation', 'wakeLock'],
  ])
    for (const name of names) delete of[name]
  if (globalThis.crypto) delete Crypto.prototype.randomUUID
`
