import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The rules whose result depends on colours: the only ones that another colour scheme can break. */
const rulesOfColour = ['color-contrast', 'link-in-text-block']

type Options = { resultTypes: string[]; runOnly?: string[] }
type Finding = { id: string; nodes: { target: string[]; failureSummary: string }[] }

/** Fails with what axe-core finds on the page: in the light by all of its rules, in the dark by those of colours. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Evaluated, not added as a script: the page's policy would rightly refuse that.
    if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(source)
    const options: Options = { resultTypes: ['violations'] }
    if (colorScheme === 'dark') options.runOnly = rulesOfColour
    const findings = await page.evaluate(async given => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: Options): Promise<{ violations: Finding[] }> }
      }
      return (await axe.run(given)).violations
    }, options)
    const where = findings.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`),
    }))
    expect({ path: new URL(page.url()).pathname, colorScheme, where }).toMatchObject({ where: [] })
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}
