import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installPackage } from './apt.ts'

/** A program that tests need of the machine: its names, and the Debian package that has it. */
export type Program = { names: string[]; debianPackage: string; neededBy: string }

/**
 * The path of a program: one on the PATH, or as root on Debian that of its package, which is installed. Throws the one
 * line that says what to install.
 */
export async function programPath(
  { names, debianPackage, neededBy }: Program,
  log: (line: string) => void = () => {},
): Promise<string> {
  const found =
    onPath(names) ??
    ((await installPackage(debianPackage, { log, signal: undefined })) ? onPath(names) : undefined)
  if (found !== undefined) return found
  throw new Error(
    `${neededBy} need ${names[0]}: install the package ${debianPackage}, or put one on the PATH`,
  )
}

/** The path of the first of these programs that is on the PATH. */
export function onPath(names: string[]): string | undefined {
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
