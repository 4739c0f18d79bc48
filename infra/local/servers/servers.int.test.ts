import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localFolder } from '../folder.ts'

/** The files that other users of the machine can reach and read; a pid is not a secret. */
const readableByOthers = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
    if (entry.isDirectory()) return (mode & 0o011) === 0 ? [] : readableByOthers(path)
    return (mode & 0o044) === 0 || entry.name === 'pid' ? [] : [path]
  })

test('no other user of the machine can read the data of a server, or its log', () => {
  expect(readableByOthers(localFolder('test'))).toEqual([])
})
