/** Evidence of the user in the config file of `certify`. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { certifyExample } from '../certifier/target.ts'
import { folderWith } from '../config/folder.ts'

test('an assumption with evidence is not varied by certify, whose report names the tiers', async () => {
  const folder = folderWith({
    'own.yaml': `evidence:\n  webhook.json: ${JSON.stringify({ count: 12, date: '2026-07-01', file: 'traffic.jsonl', value: 'compact' })}\n`,
  })
  const tiers: unknown[] = []
  for (const flags of [[], ['--config', join(folder, 'own.yaml')]]) {
    const rotated = new Set<string>()
    for (const seed of ['1', '2', '3']) {
      const certificate = await certifyExample(null, '--only', 'SIG-01', '--seed', seed, ...flags)
      for (const name of Object.keys(certificate.checks[0]!.rotated)) rotated.add(name)
      if (seed === '1') tiers.push((certificate as unknown as { tiers: Record<string, string> }).tiers['webhook.json'])
    }
    expect(rotated.has('webhook.json')).toBe(flags.length === 0)
  }
  expect(tiers).toEqual(['assumed', 'seen'])
})
