import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPackage } from './apt.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']

/**
 * The path of this machine's Chromium, for the tests in a real browser: one on the PATH, or as root on Debian its
 * package, which is installed. Throws the one line that says what to install.
 */
export async function chromiumPath(log: (line: string) => void = () => {}): Promise<string> {
  const found =
    onPath() ?? ((await installPackage('chromium', { log, signal: undefined })) ? onPath() : undefined)
  if (found !== undefined) return found
  throw new Error(
    'the tests in a browser need Chromium: install the package chromium, or put one on the PATH',
  )
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.flatMap(folder => names.map(name => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
