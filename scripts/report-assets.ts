/** The script and the style of the HTML report as one module of texts: bundled, so that src needs no bundler to run. */
import { readFileSync } from 'node:fs'
import { rolldown } from 'rolldown'

const FOLDER = new URL('../src/web/report/', import.meta.url)
const STYLES = ['colours', 'page', 'overview', 'scenarios', 'failures', 'steps', 'timeline', 'panel', 'paper']

/** Text of src/web/report/page-assets.ts. */
export async function reportAssets(): Promise<string> {
  return [
    '/** Made by scripts/report-assets.ts from client/ and style/; run `npm run generate` after changing them. */',
    `export const SCRIPT = ${literal(await script())}`,
    `export const STYLE = ${literal(style())}`,
    '',
  ].join('\n')
}

async function script(): Promise<string> {
  const bundle = await rolldown({
    input: new URL('client/main.ts', FOLDER).pathname,
    platform: 'browser',
    transform: { target: 'es2022' },
    logLevel: 'warn',
  })
  const { output } = await bundle.generate({ format: 'iife', minify: true })
  await bundle.close()
  return escapeEndTags(output[0].code.trim())
}

/** Escapes what would end the surrounding element. */
const escapeEndTags = (code: string) => code.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--')

const style = () =>
  STYLES.map(name => readFileSync(new URL(`style/${name}.css`, FOLDER), 'utf8'))
    .join('\n')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\s*\n\s*/g, ' ')
    .trim()

const literal = (text: string) => `\`${text.replace(/[\\`]|\$(?=\{)/g, char => `\\${char}`)}\``
