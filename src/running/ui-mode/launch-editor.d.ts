/** The types of launch-editor, which has none. */
declare module 'launch-editor' {
  /** `file` may end with `:line:column`. `onError` is called once, with null when no editor was found. */
  export default function launchEditor(file: string, onError: (file: string, message: string | null) => void): void
}
