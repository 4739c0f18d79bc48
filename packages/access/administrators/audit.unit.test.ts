import { expect, test } from 'vitest'
import { commandActor, noteBothEnds } from './audit.ts'

test('work that succeeded is not noted as failed, even if the entry after it cannot be written', async () => {
  const noted: string[] = []
  const values = ({ action }: { action: string }) => ({
    async execute() {
      if (noted.push(action) === 2) throw new Error('Connection terminated')
    },
  })
  const long = { work: 'replay', of: 'all', run: async () => 3, outcome: () => '3 sent' } as const
  const db = { insertInto: () => ({ values }) }
  await expect(noteBothEnds(db as never, commandActor(), long)).rejects.toThrow('Connection terminated')
  expect(noted).toEqual(['replay-begun', 'letters-replayed'])
})
