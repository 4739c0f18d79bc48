import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Finding = { id: string; impact: string | null; nodes: { target: string[]; failureSummary: string }[] }

/** Fails with what axe-core finds on the page that is serious or critical, in the light and in the dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Evaluated, not added as a script: the page's policy would rightly refuse that.
    await page.evaluate(source)
    const findings = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Finding[] }> } }
      return (await axe.run()).violations
    })
    const serious = findings.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    const where = serious.map(({ id, nodes }) => ({
      id,
      nodes: nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`),
    }))
    expect({ path: new URL(page.url()).pathname, colorScheme, where }).toMatchObject({ where: [] })
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}
