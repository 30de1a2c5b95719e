/** Where in a file something stands. */
import type { Place } from '../../../scenario/plan.ts'

/** `scenarios/happy.yaml:19:5`, as editors and terminals understand it. */
export const placeOf = ({ file, line, column }: Place): string => `${file}:${line}:${column}`
