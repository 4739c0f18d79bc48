import { Presets, SingleBar } from 'cli-progress'

type Output = NodeJS.WritableStream & { isTTY?: boolean }

/** Shows how far a command is: the part that is done, 0 to 1, and the same in words. `close` removes the bar. */
type Progress = { show: (share: number, words: string) => void; close: (sentence?: string) => void }

const lineEveryMs = 10_000

/** A bar if `output` (stderr) is a terminal, otherwise a line every 10 s. Nothing is shown before the first `show`. */
export function createProgress(output: Output, name: string, now = () => performance.now()): Progress {
  const { show, stop } = output.isTTY === true ? bar(output, name) : lines(output, name, now)
  return {
    show,
    close(sentence) {
      stop()
      if (sentence !== undefined) output.write(`${sentence}\n`)
    },
  }
}

/** The same for what is counted: `verify: 12 of 30 events, 40%`. */
export function createCount(output: Output, { name, unit }: { name: string; unit: string }) {
  const { show, close } = createProgress(output, name)
  return {
    show: (done: number, all: number) => show(all === 0 ? 1 : done / all, `${done} of ${all} ${unit}`),
    close,
  }
}

function bar(output: Output, name: string) {
  // The caller handles signals: the bar must not end the process, nor leave a cursor hidden behind it.
  const settings = { stream: output, hideCursor: true, clearOnComplete: true, gracefulExit: false }
  const format = `${name} {bar} {percentage}% | {words}`
  const shown = new SingleBar({ ...settings, format }, Presets.shades_classic)
  let isShown = false
  return {
    show(share: number, words: string) {
      if (!isShown) shown.start(1000, 0, { words })
      isShown = true
      shown.update(Math.floor(share * 1000), { words })
    },
    stop: () => shown.stop(),
  }
}

function lines(output: Output, name: string, now: () => number) {
  let lastLineMs = now()
  return {
    show(share: number, words: string) {
      if (now() - lastLineMs < lineEveryMs) return
      lastLineMs = now()
      output.write(`${name}: ${words}, ${Math.floor(share * 100)}%\n`)
    },
    stop: () => {},
  }
}
