import { execFileSync } from 'node:child_process'
import { programPath } from '#infra/install/programs.ts'

const pdfToText = {
  names: ['pdftotext'],
  debianPackage: 'poppler-utils',
  neededBy: 'the tests of printed pages',
}

/** The text of each page of a PDF. */
export async function pagesOf(pdf: Buffer): Promise<string[]> {
  const program = await programPath(pdfToText, line => void process.stderr.write(`${line}\n`))
  const text = execFileSync(program, ['-layout', '-', '-'], { input: pdf, encoding: 'utf8' })
  // A form feed ends each page.
  return text.split('\f').slice(0, -1)
}
