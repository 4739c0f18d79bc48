import { calmly } from './calmly.js'
import { createClock } from './clock.js'
import { hideWhenIdle } from './idle.js'
import { createMoney } from './screenMoney.js'
import { createPortions } from './screenPortions.js'
import { showStatus } from './status.js'
import { follow } from './stream.js'

/** Sales come five times a second; figures that everybody looks at change once. */
const calmMs = 1_000

const by = id => document.getElementById(id)
const { dataset } = by('screen')
const { locale } = document.documentElement.dataset
const status = showStatus(locale)
const clock = createClock(locale, { nowMs: Number(dataset.nowMs), offsetMs: Number(dataset.offsetMs) })
const view = dataset.shows === 'money' ? createMoney(locale) : createPortions(locale, clock)

const show = calmly(calmMs, day => {
  by('event').textContent = day.eventName
  document.title = `${day.eventName} · Tally`
  clock.showDay(day.date)
  view.show(day)
})

/** Without a day there is no stream, and so no connection that could be lost. */
const waits = () => dataset.waits !== undefined
follow(dataset.stream, {
  day(day) {
    delete dataset.waits
    status.shows(day)
    show(day)
    view.heard(day)
  },
  beat(beat) {
    status.heard(beat)
    clock.heard(beat)
    view.beat(beat)
  },
  failed: () => waits() || status.failed(),
  hidden: () => waits() || status.hidden(),
  // The page says that its link has ended.
  over: () => location.reload(),
})

hideWhenIdle(document.body)
const fullScreen = by('full-screen')
fullScreen.hidden = !document.documentElement.requestFullscreen
fullScreen.addEventListener('click', () => {
  if (document.fullscreenElement) document.exitFullscreen()
  else document.documentElement.requestFullscreen().catch(() => undefined)
})
document.addEventListener('fullscreenchange', () => {
  fullScreen.textContent = document.fullscreenElement ? 'Leave full screen' : 'Full screen'
})
