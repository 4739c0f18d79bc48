import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { localFolder } from '#infra/folder.ts'
import { takesPictures } from './fixture.ts'

/** A phone with text of twice the size, a phone, a tablet, a screen; on pictures also a large one. */
const widths = [195, 390, 768, 1440, ...(takesPictures ? [1920] : [])]
const schemes = ['light', 'dark'] as const
const thumbPx = 44

/** Where the pictures of the pages are; git ignores it. */
const folder = localFolder('screenshots/pages')

/**
 * Fails if something on the open page is wider than the screen at one of the widths, if the header takes more than a
 * line, or if something to tap on a phone is smaller than a thumb. With UPDATE_SCREENSHOTS=1 it also takes pictures, in
 * both colour schemes.
 */
export async function expectFits(page: Page, name: string): Promise<void> {
  for (const width of widths) {
    // The text of a hall's screen is as large as its height makes it.
    if (width < 390 && name === 'screen') continue
    await page.setViewportSize({ width, height: width < 700 ? 844 : 900 })
    // Charts follow the new width a frame later.
    const wrongs = () => page.evaluate(layoutWrongs, { width, thumbPx: width < 700 ? thumbPx : 0 })
    await expect.poll(wrongs, { timeout: 120_000, message: `${name} at ${width} px` }).toEqual([])
    if (takesPictures) await shoot(page, `${name}-${width}`)
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const path = join(folder, `${name}-${colorScheme}.jpeg`)
    await page.screenshot({ path, fullPage: true, type: 'jpeg', quality: 70, animations: 'disabled' })
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}

/** What is laid out wrongly at a width. It runs in the page: it may use nothing from outside. */
export function layoutWrongs({ width, thumbPx }: { width: number; thumbPx: number }): string[] {
  // The types of a page are not those of Node, which compiles this.
  // biome-ignore lint/suspicious/noExplicitAny: the page's own globals
  const { document, getComputedStyle } = globalThis as any
  // biome-ignore lint/suspicious/noExplicitAny: an element
  type Element = any
  const wrongs: string[] = []
  const root = document.documentElement
  if (root.scrollWidth > width) wrongs.push(`the page is ${root.scrollWidth} px wide`)
  const named = (element: Element) =>
    `${element.tagName.toLowerCase()}${element.id && `#${element.id}`}.${element.className} “${element.textContent.trim().slice(0, 40)}”`
  const isShown = (element: Element) =>
    element.checkVisibility() && element.closest('.hidden, .skip') === null

  for (const element of document.querySelectorAll('body *')) {
    if (!isShown(element)) continue
    const { left, right } = element.getBoundingClientRect()
    if (right > width + 1 || left < -1) wrongs.push(`outside the screen: ${named(element)}`)
    // Texts of a chart are wherever they are put.
    if (element.ownerSVGElement) continue
    const { overflowX } = getComputedStyle(element)
    if (overflowX === 'visible' && element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
      wrongs.push(`wider than its box: ${named(element)}`)
  }
  const top = document.querySelector('.top')?.getBoundingClientRect()
  if (top?.height > 72) wrongs.push(`the header is ${top.height} px high`)
  const header = document.querySelector('.brand')?.getBoundingClientRect().left
  const main = document.querySelector('main')
  const content = main?.getBoundingClientRect().left + Number.parseFloat(getComputedStyle(main).paddingLeft)
  if (width > 1280 && header && content !== header)
    wrongs.push(`content at ${content}, header at ${header} px`)
  const organization = document.querySelector('.organization')
  if (width >= 390 && organization?.scrollHeight > organization?.clientHeight)
    wrongs.push(`cut: ${named(organization)}`)

  const isInSentence = (link: Element) =>
    [...link.parentElement.childNodes].some(
      (node: Element) => node.nodeType === 3 && node.textContent.trim() !== '',
    )
  for (const target of document.querySelectorAll('a[href], button, input, select, summary, label.tick')) {
    if (!isShown(target) || target.type === 'hidden' || target.matches('label input')) continue
    if (target.tagName === 'A' && isInSentence(target)) continue
    const box = target.getBoundingClientRect()
    if (box.width < thumbPx - 0.5 || box.height < thumbPx - 0.5)
      wrongs.push(`${Math.round(box.width)} × ${Math.round(box.height)} px to tap: ${named(target)}`)
  }
  return wrongs
}
