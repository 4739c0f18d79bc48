/** What a browser calls itself, the more special first: all of them also name those whose pages they can show. */
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|Chromium|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

const nameIn = (names: [RegExp, string][], text: string) => names.find(([shape]) => shape.test(text))?.[1]

/** `Safari on iPhone`, of the header User-Agent. */
export function browserName(userAgent: string): string {
  const browser = nameIn(browsers, userAgent) ?? 'Unknown browser'
  const system = nameIn(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}
