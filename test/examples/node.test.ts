/** The reference intermediary in JavaScript, as a process. */

import { describeIntermediary } from './intermediary-suite.ts'
import { NODE } from './program.ts'

describeIntermediary(NODE, true)
