/**
 * A row of the list of what the reference does: its description, and the tests that show it, by file below `test`. A row without tests gives the reason
 * in one sentence. Type checks are in files named `.types.ts`, by the name of what they export.
 */
export interface Row {
  readonly is: string
  readonly by: Readonly<Record<string, ReadonlyArray<string>>>
  readonly not: string | undefined
}

export type Rows = Readonly<Record<string, Row>>

export const row = (is: string, by: Readonly<Record<string, string | ReadonlyArray<string>>>): Row => ({
  is,
  by: Object.fromEntries(
    Object.entries(by).map(([file, titles]) => [file, typeof titles === "string" ? [titles] : titles])
  ),
  not: undefined
})

export const none = (is: string, not: string): Row => ({ is, by: {}, not })
