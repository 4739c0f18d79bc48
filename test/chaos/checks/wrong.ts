/** What was seen and must not be. */
export type Wrong = { rule: string; what: string; at: string }
export type Wrongs = { list: Wrong[]; add: (rule: string, what: unknown) => void }

/** This many per rule are printed immediately; further ones are only in the list. */
const loggedOfEach = 6

/** Collects what is wrong, and prints it immediately. */
export function collectWrongs(log: (line: string) => void): Wrongs {
  const list: Wrong[] = []
  return {
    list,
    add(rule, what) {
      const text = typeof what === 'string' ? what : JSON.stringify(what)
      list.push({ rule, what: text.slice(0, 2_000), at: new Date().toISOString() })
      const known = list.filter(wrong => wrong.rule === rule).length
      if (known <= loggedOfEach) log(`WRONG: ${rule}: ${text.slice(0, 400)}`)
    },
  }
}
