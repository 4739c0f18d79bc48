import { Presets, SingleBar } from 'cli-progress'
import type { Clock } from './pace.ts'

/** How far a feed is: records sent so far, and the part of its source that they are, 0 to 1. */
type FeedPosition = { sent: number; share: number }

/** Shows how far a feed is; `close` removes the bar and prints the last sentence. */
export type FeedProgress = { show: (position: FeedPosition) => void; close: (sentence: string) => void }

type Output = NodeJS.WritableStream & { isTTY?: boolean }

const lineEveryMs = 10_000

/** A bar if `output` (stderr) is a terminal, else a line every 10 s. Opens nothing before the first `show`. */
export function openProgress(output: Output, clock: Pick<Clock, 'now'>): FeedProgress {
  return output.isTTY === true ? bar(output) : lines(output, clock)
}

function bar(output: Output): FeedProgress {
  // The caller handles signals: the bar must not end the process, nor leave a cursor hidden behind it.
  const settings = { stream: output, hideCursor: true, clearOnComplete: true, gracefulExit: false }
  const format = 'feed {bar} {percentage}% | {sent} records'
  const shown = new SingleBar({ ...settings, format }, Presets.shades_classic)
  let isShown = false
  return {
    show: ({ sent, share }) => {
      if (!isShown) shown.start(1000, 0, { sent: '0' })
      isShown = true
      shown.update(Math.floor(share * 1000), { sent: sent.toLocaleString('en-US') })
    },
    close: sentence => {
      shown.stop()
      output.write(`${sentence}\n`)
    },
  }
}

function lines(output: Output, clock: Pick<Clock, 'now'>): FeedProgress {
  let lastLineMs = clock.now()
  return {
    show: ({ sent, share }) => {
      if (clock.now() - lastLineMs < lineEveryMs) return
      lastLineMs = clock.now()
      output.write(`feed: ${sent.toLocaleString('en-US')} records sent, ${Math.floor(share * 100)}%\n`)
    },
    close: sentence => output.write(`${sentence}\n`),
  }
}
