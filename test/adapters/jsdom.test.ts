// @vitest-environment jsdom
import { describe } from 'vitest'
import { describeBrowserApis } from './browser-apis.ts'

describe('in jsdom', describeBrowserApis)
