/** Runs the whole product once, as users do: processes, a browser, the packed package. The rest of such tests is in `*.system.test.ts`. */
import { it } from 'vitest'

it.todo('smoke')
