/** One line of a benchmark: what was measured, beside the floor measured in the same run and the bar it must clear. */

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The same work done as plainly as possible, in the same unit and the same run. */
  readonly floor?: number
  /** Value over floor. */
  readonly ratio?: number
  /** What is asked for, in words. */
  readonly bar: string
  readonly ok: boolean
}
