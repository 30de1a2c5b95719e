/** A translation engine as a user would write one. */
export const translate = (text, from, to) => `${text.toUpperCase()} (${from} to ${to})`
