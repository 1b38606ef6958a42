/**
 * Whether the API server keeps a field of the status. An older server drops it from the stored object: a loop that compared the field anyway would
 * write in every sync. The last answer counts, because a server may be upgraded while the loop runs.
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
