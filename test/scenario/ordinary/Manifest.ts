/** A manifest of YAML documents, and kubectl's view of it. */
export interface Manifest {
  /** Of its namespace. */
  readonly name: string
  readonly yaml: string
  /** Arguments of kubectl commands that succeed once it is up, in order. Those that wait get a time limit. */
  readonly up: ReadonlyArray<string>
  /** Arguments of kubectl commands that delete what stays by design. */
  readonly left?: ReadonlyArray<string> | undefined
}
