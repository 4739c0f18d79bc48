import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '#infra/command.ts'
import { type Program, programPath } from '#infra/install/programs.ts'
import { nodes } from './nodes.ts'

type Command = { program: string; args: string[] }
const neededBy = 'the programs of docs/guides'
const log = (line: string): void => void process.stderr.write(`${line}\n`)
const have = (name: string, debianPackage: string) =>
  programPath({ names: [name], debianPackage, neededBy } satisfies Program, log)

/** Makes a command of a block in each language, in a folder that has the client. */
export const interpreters: Record<string, (text: string, folder: string) => Promise<Command>> = {
  async sh(text) {
    await have('curl', 'curl')
    return { program: await have('bash', 'bash'), args: ['-euo', 'pipefail', '-c', text] }
  },
  async js(text, folder) {
    const [node] = (await nodes()).toReversed()
    return { program: node?.path ?? 'node', args: [save(folder, 'block.mjs', text)] }
  },
  async python(text, folder) {
    return {
      program: await have('python3', 'python3'),
      args: ['-W', 'error', save(folder, 'block.py', text)],
    }
  },
  async go(text, folder) {
    const program = join(folder, 'block-go')
    await run(await have('go', 'golang-go'), ['build', '-o', program, save(folder, 'block.go', text)], {
      cwd: folder,
      env: { GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' },
    })
    return { program, args: [] }
  },
  /** Compiled for this machine against stubs of the ESP32's headers, whose HTTP client is a real one. */
  async cpp(text, folder) {
    const stubs = join(import.meta.dirname, 'arduino')
    const program = join(folder, 'block-cpp')
    const sketch = save(folder, 'sketch.ino.h', text)
    const strict = ['-std=c++17', '-Wall', '-Wextra', '-Werror', '-I', stubs, `-DSKETCH="${sketch}"`]
    await run(await have('g++', 'g++'), [...strict, join(stubs, 'main.cpp'), '-o', program])
    return { program, args: [] }
  },
}

function save(folder: string, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, `${text}\n`)
  return file
}
