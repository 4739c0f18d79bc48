import { createLogger } from '@tally/platform'
import { expect, test, vi } from 'vitest'
import type { ConsumeOptions, StartOffsets } from '../types.ts'
import { beginGeneration } from './generation.ts'
import { newMemory } from './memory.ts'

test('onAssigned runs for one generation after the other, and where the last one begins counts', async () => {
  const memory = newMemory()
  const first = Promise.withResolvers<StartOffsets>()
  const onAssigned = vi.fn<ConsumeOptions['onAssigned']>()
  onAssigned.mockReturnValueOnce(first.promise)
  onAssigned.mockResolvedValueOnce(new Map([['orders', new Map([[1, 7]])]]))
  const begin = (partition: number) => {
    const joined = { assignment: new Map([['orders', [partition]]]), counts: undefined }
    const deps = { options: { onAssigned } as Partial<ConsumeOptions> as ConsumeOptions, memory }
    return beginGeneration({ ...deps, logger: createLogger('test', 'silent') }, joined as never)
  }

  const before = begin(0)
  await vi.waitFor(() => expect(onAssigned).toHaveBeenCalled())
  before.over.abort()
  begin(1)
  await new Promise(setImmediate)
  expect(onAssigned).toHaveBeenCalledTimes(1)
  first.resolve(new Map([['orders', new Map([[0, 3]])]]))
  await vi.waitFor(() => expect(memory.begun).toBe(true))
  const read = [...memory.partitions.values()].map(({ partition, next, isHeld }) => [partition, next, isHeld])
  expect(read).toEqual([[1, 7, false]])
})
