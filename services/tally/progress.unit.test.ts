import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createCount, createProgress } from './progress.ts'

test('if stderr is not a terminal, a line every 10 s shows the progress', () => {
  const stderr = new PassThrough()
  let nowMs = 0
  const progress = createProgress(stderr, 'feed', () => nowMs)
  for (nowMs = 1_000; nowMs <= 25_000; nowMs += 1_000)
    progress.show(nowMs / 50_000, `${nowMs / 1_000} records sent`)
  progress.close('Done.')
  expect(String(stderr.read())).toBe('feed: 10 records sent, 20%\nfeed: 20 records sent, 40%\nDone.\n')
})

test('if stderr is a terminal, a bar shows the part that is done', () => {
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 100,
    cursorTo() {},
    moveCursor() {},
    clearLine() {},
  })
  const { show, close } = createCount(terminal, { name: 'verify', unit: 'events' })
  show(617, 1234)
  close()
  const shown = String(terminal.read())
  expect(shown).toContain('50% | 617 of 1234 events')
})
