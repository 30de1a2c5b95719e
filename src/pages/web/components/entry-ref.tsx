/** Refers to a journal entry by its number: as a link, as a button that selects it, or as text. */
import './entries.css'

/** What a reference to an entry does. Without both it is text. */
export interface EntryRefs {
  /** The address of an entry in this page. */
  href?(seq: number): string
  readonly onSelect?: ((seq: number) => void) | undefined
}

interface EntryRefProps {
  readonly seq: number
  readonly refs?: EntryRefs | undefined
}

export function EntryRef({ seq, refs: { href, onSelect } = {} }: EntryRefProps) {
  if (href !== undefined)
    return (
      <a class="entry-seq" href={href(seq)}>
        #{seq}
      </a>
    )
  if (onSelect === undefined) return <span class="entry-seq">#{seq}</span>
  return (
    <button type="button" class="link entry-seq" onClick={() => onSelect(seq)}>
      #{seq}
    </button>
  )
}

/** References one after the other. */
export function EntryRefList({ seqs, refs }: Pick<EntryRefProps, 'refs'> & { readonly seqs: readonly number[] }) {
  return (
    <span class="entry-seqs">
      {seqs.map(seq => (
        <EntryRef key={seq} seq={seq} refs={refs} />
      ))}
    </span>
  )
}
