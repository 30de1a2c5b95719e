#!/usr/bin/env node
require('node:module').enableCompileCache?.()
const { main } = require('../dist/cli.cjs')

process.exitCode = 70 // When Node ends before the command does.
main().then(code => {
  process.exitCode = code
})
