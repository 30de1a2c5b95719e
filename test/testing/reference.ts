/** The example intermediary as functions of a simulator, in virtual time. */

import type { SimulatorOptions } from '../../src/testing/simulator.ts'
import { type Example, startExample } from '../mutants/example.ts'

export const withReference = (options: SimulatorOptions = {}): Promise<Example> => startExample(null, options)
