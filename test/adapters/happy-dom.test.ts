// @vitest-environment happy-dom
import { describe } from 'vitest'
import { describeBrowserApis } from './browser-apis.ts'

describe('in happy-dom', describeBrowserApis)
