/** Runs before every test file. Modules imported here load once per worker, before any module of src. */
import './virtual-time.ts'
import './property-seed.ts'

/** Removes the colour settings of a CI, because tests compare uncoloured output. */
for (const name of ['FORCE_COLOR', 'NO_COLOR', 'CLICOLOR_FORCE']) delete process.env[name]
