import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commandLine } from '../servers/process.ts'
import { lock } from './startLock.ts'

vi.mock('../servers/process.ts', () => ({ commandLine: vi.fn() }))

test('of two starts at most one goes on, and a file of another program does not count', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-starts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const seen: string[][] = []
  vi.mocked(commandLine).mockImplementation(pid => {
    seen.push(readdirSync(folder).toSorted())
    return pid === 1 ? 'node infra/local/start.ts' : 'sh'
  })
  const own = String(process.pid)
  writeFileSync(join(folder, '1'), '')
  expect(() => lock(folder)).toThrow('npm start runs in this checkout already (process 1)')
  expect(readdirSync(folder)).toEqual(['1'])
  // One that begins now would find this one.
  expect(seen).toEqual([['1', own].toSorted()])

  rmSync(join(folder, '1'))
  writeFileSync(join(folder, '2'), '')
  const unlock = lock(folder)
  expect(readdirSync(folder)).toEqual([own])
  unlock()
  expect(readdirSync(folder)).toEqual([])
})
