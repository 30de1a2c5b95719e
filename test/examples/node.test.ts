/** Tests the reference intermediary in JavaScript. */

import { describeIntermediary } from './intermediary-suite.ts'
import { NODE } from './program.ts'

describeIntermediary(NODE, true)
