import { expect, test } from 'vitest'
import { formatIn } from '../views/format.ts'
import { usageView } from './page.ts'
import type { Usage } from './read.ts'

/** The page of a key whose last of 24 hours had these requests. */
function pageOf(limit: number, requests: number, refused: number): string {
  const byHour = Array.from({ length: 24 }, (_, hour) => ({ startsAt: hour, requests: 0, refused: 0 }))
  byHour[23] = { startsAt: 23, requests, refused }
  const day = new Map([[200, requests]])
  const usage: Usage = {
    keys: [{ keyId: 'AbCdEf012345', key: undefined, hour: day, day }],
    window: { status: 'Trial', limit, used: 0, endsInMs: 0 },
    byHour,
  }
  return String(usageView(usage, formatIn('en')))
}

test('each hour says what it had, and the part that was refused stands on top of the rest', () => {
  const page = pageOf(60, 100, 25)
  expect(page).toContain('<title>1 to 0 h ago: 100 requests, 25 refused</title>')
  expect(page).toContain('<rect class="answered" x="692.0" y="33.0" width="26.0" height="87.0"></rect>')
  expect(page).toContain('<rect class="refused" x="692.0" y="4.0" width="26.0" height="29.0"></rect>')
})

test('the limit is a line if an hour came near it, and always a number', () => {
  expect(pageOf(60, 100, 0)).toContain('Most in an hour: 100. The limit allows 3,600 an hour.')
  expect(pageOf(60, 100, 0)).not.toContain('class="limit"')
  const near = pageOf(60, 1_800, 0)
  expect(near).toContain('Most in an hour: 1,800. The dashed line is the limit: 3,600 an hour.')
  // Half of the limit is half as high as the line.
  expect(near).toContain('<line class="limit" x1="0" x2="720" y1="4.0" y2="4.0"></line>')
  expect(near).toContain('y="62.0" width="26.0" height="58.0"')
})
