import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Screens of halls: two televisions, one with four times the pixels, and one that hangs upright. */
const screenSizes = [
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
  { width: 3840, height: 2160 },
  { width: 1080, height: 1920 },
] as const

/**
 * Fails if the open page is not exactly one screen at one of the sizes, if something on it lies outside, is cut or
 * touches something else, or if a text is smaller than 2 % of the height. `cut` are names that may end in an ellipsis.
 */
export async function expectOneScreen(page: Page, cut: string[], seen: (size: string) => Promise<unknown>) {
  for (const size of screenSizes) {
    await page.setViewportSize(size)
    const wrongs = () => page.evaluate(screenWrongs, cut)
    const message = `${size.width} × ${size.height}`
    await expect.poll(wrongs, { timeout: 120_000, message }).toEqual([])
    await seen(`${size.width}x${size.height}`)
  }
}

/** What does not fit. It runs in the page: it may use nothing from outside. */
function screenWrongs(cut: string[]): string[] {
  // The types of a page are not those of Node, which compiles this.
  // biome-ignore lint/suspicious/noExplicitAny: the page's own globals
  const { document, getComputedStyle, innerWidth, innerHeight } = globalThis as any
  // biome-ignore lint/suspicious/noExplicitAny: an element
  type Element = any
  const wrongs: string[] = []
  const root = document.documentElement
  if (root.scrollHeight !== innerHeight || root.scrollWidth !== innerWidth)
    wrongs.push(`the page has ${root.scrollWidth} × ${root.scrollHeight} px`)
  const named = (element: Element) =>
    `${element.tagName.toLowerCase()}#${element.id}.${element.className} “${element.textContent.trim().slice(0, 30)}”`
  const hasText = (element: Element) =>
    [...element.childNodes].some((node: Element) => node.nodeType === 3 && node.textContent.trim() !== '')
  const shown = [...document.querySelectorAll('body, body *')].filter(
    element =>
      getComputedStyle(element).visibility === 'visible' && element.getBoundingClientRect().width > 0,
  )

  for (const element of shown) {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    if (left < -0.5 || top < -0.5 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5)
      wrongs.push(`outside the screen: ${named(element)}`)
    const { fontSize, textOverflow } = getComputedStyle(element)
    if (hasText(element) && Number.parseFloat(fontSize) < innerHeight * 0.02)
      wrongs.push(`${fontSize} of ${innerHeight} px: ${named(element)}`)
    const isRightToLeft = /^\P{L}*[\u0590-\u08ff]/u.test(element.textContent)
    if (element.matches('.name') && isRightToLeft !== (getComputedStyle(element).direction === 'rtl'))
      wrongs.push(`read from the wrong side: ${named(element)}`)
    if (element.clientWidth === 0) continue
    const isCut = element.scrollWidth > element.clientWidth + 1
    const mayBeCut = textOverflow === 'ellipsis' && cut.includes(element.textContent)
    if ((isCut && !mayBeCut) || element.scrollHeight > element.clientHeight + 1)
      wrongs.push(
        `cut: ${named(element)} ${element.scrollWidth} × ${element.scrollHeight} in ${element.clientWidth} × ${element.clientHeight}`,
      )
  }
  // Texts that stand next to each other in a line, and lines in a list.
  const boxes = shown.filter(hasText).map(element => {
    const range = document.createRange()
    range.selectNodeContents(element)
    const text = range.getBoundingClientRect()
    const box = element.getBoundingClientRect()
    return {
      element,
      left: text.left,
      right: Math.min(text.right, box.right),
      top: text.top,
      bottom: text.bottom,
    }
  })
  for (const [index, one] of boxes.entries())
    for (const other of boxes.slice(index + 1)) {
      if (one.element.contains(other.element)) continue
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left)
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
      // Line boxes may overlap a little; glyphs do not fill them.
      const line = Math.min(one.bottom - one.top, other.bottom - other.top)
      if (across > line * -0.1 && down > line * 0.25)
        wrongs.push(`${named(one.element)} touches ${named(other.element)}`)
    }
  return wrongs
}
