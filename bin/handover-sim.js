#!/usr/bin/env node
import module from 'node:module'

module.enableCompileCache?.()
const { main } = module.createRequire(import.meta.url)('../dist/cli.cjs')
process.exitCode = await main()
