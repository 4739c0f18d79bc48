import { Presets, SingleBar } from 'cli-progress'

type Output = NodeJS.WritableStream & { isTTY?: boolean }

/** Shows the progress of a command; `close` removes the bar. */
export type Progress = { show: (done: number, all: number) => void; close: () => void }

const lineEveryMs = 10_000

/** A bar if `output` (stderr) is a terminal, otherwise a line every 10 s. `unit` is what is counted: `events`. */
export function createProgress(output: Output, { name, unit }: { name: string; unit: string }): Progress {
  return output.isTTY === true ? bar(output, name, unit) : lines(output, name, unit)
}

function bar(output: Output, name: string, unit: string): Progress {
  // The caller handles signals: the bar must not end the process, nor leave a cursor hidden behind it.
  const settings = { stream: output, hideCursor: true, clearOnComplete: true, gracefulExit: false }
  const shown = new SingleBar(
    { ...settings, format: `${name} {bar} {percentage}% | {value} of {total} ${unit}` },
    Presets.shades_classic,
  )
  let isShown = false
  return {
    show: (done, all) => {
      if (!isShown) shown.start(all, done)
      isShown = true
      shown.setTotal(all)
      shown.update(done)
    },
    close: () => shown.stop(),
  }
}

function lines(output: Output, name: string, unit: string): Progress {
  let lastLineMs = performance.now()
  return {
    show: (done, all) => {
      if (performance.now() - lastLineMs < lineEveryMs) return
      lastLineMs = performance.now()
      output.write(`${name}: ${done} of ${all} ${unit}\n`)
    },
    close: () => {},
  }
}
