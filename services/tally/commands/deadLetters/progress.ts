import { Presets, SingleBar } from 'cli-progress'

type Output = NodeJS.WritableStream & { isTTY?: boolean }

/** Shows the progress of a replay on a terminal, and nothing elsewhere. `close` removes the bar. */
export function openProgress(output: Output): {
  show: (sent: number, share: number) => void
  close: () => void
} {
  if (output.isTTY !== true) return { show: () => {}, close: () => {} }
  const bar = new SingleBar(
    {
      stream: output,
      hideCursor: true,
      clearOnComplete: true,
      format: 'replay {bar} {percentage}% | {sent} sent',
    },
    Presets.shades_classic,
  )
  bar.start(100, 0, { sent: '0' })
  return {
    show: (sent, share) => bar.update(Math.floor(share * 100), { sent: sent.toLocaleString('en-US') }),
    close: () => bar.stop(),
  }
}
