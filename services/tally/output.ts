import { visible } from '@tally/platform/visible'

const linesOf = (lines: string[]): string => lines.map(line => `${visible(line)}\n`).join('')

/** Prints lines of the result on stdout, escaped: names and messages from outside could command a terminal. */
export const print = (...lines: string[]): void => void process.stdout.write(linesOf(lines))

/** As `print`; rejects if it cannot be written. */
export const printSurely = (...lines: string[]): Promise<void> =>
  new Promise((done, fail) => {
    process.stdout.write(linesOf(lines), error => (error ? fail(error) : done()))
  })

/** As `print`, and waits for the reader: there may be more lines than fit in memory. */
export const printMany = (lines: string[]): Promise<void> => printText(linesOf(lines))

/** Prints a text of our own unchanged, and waits for the reader. If there is none any more, the process ends. */
export function printText(text: string): Promise<void> {
  return new Promise(done => {
    process.stdout.write(text, (error?: NodeJS.ErrnoException | null) =>
      error?.code === 'EPIPE' ? process.exit() : done(),
    )
  })
}

/** `1 event`, `2 events`. */
export const counted = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`

/** Prints remarks on stderr, escaped as in `print`. */
export const remark = (...lines: string[]): void => void process.stderr.write(linesOf(lines))
