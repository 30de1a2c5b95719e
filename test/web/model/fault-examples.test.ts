import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { FAULT_EXAMPLES } from '../../../src/pages/web/inspector/platform/faults.tsx'
import { createControlClient } from '../../support/control-client.ts'

test('the control API accepts every example of a fault', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  for (const { title, fault } of FAULT_EXAMPLES)
    expect((await ask('POST', '/faults', { body: fault })).status, title).toBe(201)
})
