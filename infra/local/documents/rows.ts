/** A table in Markdown; a `|` within a cell is escaped by whoever makes it. */
export function rowsOf(titles: string[], rows: string[][]): string {
  const lines = [titles, titles.map(() => '---'), ...rows].map(cells => `| ${cells.join(' | ')} |`)
  return `${lines.join('\n').replaceAll('| --- ', '|---').replaceAll('--- |', '---|').replaceAll('|  |', '| |')}\n`
}
