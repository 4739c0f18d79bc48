const [newline, space, minus, zero, nine] = [10, 32, 45, 48, 57]

/**
 * Reads the reply of a script line by line: whole numbers separated by spaces, NaN for one that is missing (`-`), or an
 * error for a line that is anything else, which is an error's message. There are no negative numbers or fractions. It
 * reads characters: splitting a reply makes hundreds of strings.
 */
export function createLines(reply: string): { next(): number[] | Error } {
  let at = 0

  const errorFrom = (start: number): Error => {
    const end = reply.indexOf('\n', start)
    const message = reply.slice(start, end < 0 ? reply.length : end)
    at = start + message.length + 1
    return new Error(message || 'a line of the reply is missing')
  }

  return {
    next() {
      const start = at
      const numbers: number[] = []
      let number: number | undefined
      for (; ; at++) {
        const code = reply.charCodeAt(at)
        if (code >= zero && code <= nine) number = (number ?? 0) * 10 + (code - zero)
        else if (code === minus) number = Number.NaN
        else if (number === undefined) return errorFrom(start)
        else {
          numbers.push(number)
          number = undefined
          if (code === space) continue
          if (code !== newline && at < reply.length) return errorFrom(start)
          at += 1
          return numbers
        }
      }
    },
  }
}
