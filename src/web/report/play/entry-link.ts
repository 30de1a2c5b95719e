/** A link to an entry of a play, which opens it in the panel. */
import { exact, html, type Markup } from '../markup.ts'
import { linkTo } from '../order.ts'

/** `slug` null: there is no page of it to lead to. */
export const entryLink = (slug: string | null, seq: number): Markup =>
  slug === null
    ? html`<span class="seq">#${seq}</span> `
    : html`<a class="seq" href="${exact(linkTo(slug, seq))}">#${seq}</a> `
