import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localFolder } from '#infra/folder.ts'

/** A file of a guide's program, the text that is its menu, and what stands there instead. */
export type MenuOf = { file: string; menu: RegExp; largest: string; more?: [string, string] }

/** The programs of docs/guides/producers with the largest menu: 2,000 items of 200 characters, not ASCII (1.7 MB). */
export const largestMenus = {
  Node: {
    file: 'sendOrders.mjs',
    menu: /menuItems: \[.*?\n {4}\],/s,
    largest: `menuItems: Array.from({ length: 2000 }, (_, n) => {
      return { menuItemId: n + 1, name: 'è'.repeat(200), categoryName: 'è'.repeat(200) }
    }),`,
  },
  Python: {
    file: 'send_orders.py',
    menu: /"menuItems": \[.*?\n {8}\],/s,
    largest:
      '"menuItems": [{"menuItemId": n, "name": "è" * 200, "categoryName": "è" * 200} for n in range(1, 2001)],',
  },
  Java: {
    file: 'SendOrders.java',
    menu: /"menuItems", List\.of\(.*?\)\)\);/s,
    // Java 17 reads its source in the encoding of the locale.
    largest: String.raw`"menuItems", java.util.stream.IntStream.rangeClosed(1, 2000).mapToObj(n -> fields(
            "menuItemId", n, "name", "\u00e8".repeat(200), "categoryName", "\u00e8".repeat(200))).toList());`,
  },
  Go: {
    file: 'main.go',
    menu: /MenuItems: \[\]MenuItem\{\{.*\}\},/,
    largest: `MenuItems: func() (all []MenuItem) {
			for n := int32(1); n <= 2000; n++ {
				all = append(all, MenuItem{n, strings.Repeat("è", 200), strings.Repeat("è", 200)})
			}
			return
		}(),`,
  },
} satisfies Record<string, MenuOf>

/** Copies a program's folder, with its libraries in reach, and gives it the largest menu; `remove` deletes the copy. */
export function copyWithMenu(folder: string, { file, menu, largest, more = ['', ''] }: MenuOf) {
  const copy = mkdtempSync(localFolder('largest-menu-'))
  cpSync(folder, copy, { recursive: true })
  const text = readFileSync(join(copy, file), 'utf8')
  const changed = text.replace(menu, () => largest)
  if (changed === text || !changed.includes(more[0]))
    throw new Error(`${file} has another menu: correct its pattern`)
  writeFileSync(join(copy, file), changed.replace(more[0], more[1]))
  return { cwd: copy, remove: () => rmSync(copy, { recursive: true }) }
}
