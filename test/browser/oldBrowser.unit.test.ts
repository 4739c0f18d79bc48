import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const script = (name: string) => readFileSync(join(root, 'services/admin/assets', name), 'utf8')

/** Syntax of scripts and style sheets that browsers of 2021 do not read: a script ends there, a rule is left out. */
const newer: Record<string, [what: string, pattern: RegExp][]> = {
  js: [
    ['a static block', /\bstatic \{/],
    ['a private field', /\bthis\.#/],
    ['await at the top', /^(const .* = )?await /m],
    ['an import of JSON or CSS', /\bimport .* with \{/],
    ['a look-behind', /\(\?<[=!]/],
    ['the flag v or d', /\/[gimsuy]*[vd][gimsuy]*\.(test|exec)\(/],
  ],
  css: [
    ['light-dark()', /light-dark\(/],
    ['color-mix()', /color-mix\(/],
    ['oklch() and its like', /\b(oklch|oklab|lch|lab|color)\(/],
    ['nesting', /^\s+&/m],
    ['@container, @layer, @scope, @property', /@(container|layer|scope|property)\b/],
    [':has()', /:has\(/],
    ['a range in a media query', /@media[^{]*[<>]/],
    ['a dynamic unit', /\d[dsl]v[hw]\b/],
  ],
}

const files = globSync(['services/admin/*/*.{js,css}', 'docs/guides/dashboard/*.{js,css}'], { cwd: root })
test.for(files)('%s is read by browsers of 2021', file => {
  const text = readFileSync(join(root, file), 'utf8')
  const found = (newer[file.split('.').at(-1) ?? ''] ?? []).filter(([, pattern]) => pattern.test(text))
  expect(found.map(([what]) => what)).toEqual([])
})

/** A script with all that it imports. */
function withImports(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const [, imported = ''] of script(name).matchAll(/from '\.\/(.+)'$/gm)) withImports(imported, seen)
  return seen
}

test.for([...withImports('screen.js'), 'page.js'])('%s is read by Chromium 79', name => {
  expect(script(name)).not.toMatch(/\?\.(?!\d)|\?\?|\|\|=|&&=|\breplaceChildren\(|\breplaceAll\(/)
})
