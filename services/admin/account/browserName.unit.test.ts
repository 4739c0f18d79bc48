import { expect, test } from 'vitest'
import { browserName } from './browserName.ts'

const webKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'

test.for([
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webKit} Version/18.0 Mobile/15E148 Safari/604.1`,
    'Safari on iPhone',
  ],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webKit} CriOS/141.0 Mobile/15E148 Safari/604.1`,
    'Chrome on iPhone',
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webKit} Version/18.0 Safari/605.1.15`, 'Safari on Mac'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/141.0.0.0`, 'Edge on Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`, 'Chrome on Windows'],
  [
    `Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 SamsungBrowser/24.0 Chrome/117.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  ['Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`, 'Chrome on ChromeOS'],
  ['curl/8.5.0', 'Unknown browser'],
  ['', 'Unknown browser'],
])('“%s” is %s', ([userAgent = '', name]) => {
  expect(browserName(userAgent)).toBe(name)
})
