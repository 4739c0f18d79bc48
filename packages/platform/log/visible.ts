/** Control characters (C0, C1), invisible format characters such as bidirectional marks, and line separators. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * The text with every hidden character as `\uXXXX`, so that a terminal shows it and does not obey it. JSON stays the
 * same value: within it such characters occur only in strings, where this is their escape.
 */
export const visible = (text: string): string => text.replace(hidden, escaped)

/** One escape per UTF-16 unit, as JSON requires. */
const escaped = (character: string): string =>
  character
    .split('')
    .map(unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
