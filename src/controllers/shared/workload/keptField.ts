/**
 * Whether the API server keeps a field of the status. A server that is older than the field drops it and answers without it: a loop that compared
 * the field all the same would write at every sync. The last answer counts, because a server is upgraded while the loop runs.
 */
export interface KeptField {
  readonly isKept: () => boolean
  /** The field as it was written, and as it is in the answer; undefined if absent. */
  readonly answered: (written: unknown, answer: unknown) => void
}

export const make = (): KeptField => {
  let isKept = true
  return {
    isKept: () => isKept,
    answered: (written, answer) => {
      if (written !== undefined) isKept = answer !== undefined
    }
  }
}
