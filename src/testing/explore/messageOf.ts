/** The message of an error of any kind, for the record of a run. */
export const messageOf = (error: unknown): string => {
  if (error instanceof Error) return error.message
  return typeof error === "string" ? error : (JSON.stringify(error) ?? "no message")
}
