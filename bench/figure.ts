/** One line of a benchmark: the measured value, beside the lower bound measured in the same run and the limit that it has to meet. */

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The size at which it was measured, if figures of one name make a curve. */
  readonly at?: number | undefined
  /** The same work done as simply as possible, in the same unit and the same run. */
  readonly floor?: number | undefined
  /** Value over floor. */
  readonly ratio?: number | undefined
  /** The value of the build that `BEFORE` names, from the same run. */
  readonly before?: number | undefined
  /** The limit, in words. */
  readonly bar: string
  readonly ok: boolean
}
