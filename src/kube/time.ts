/**
 * Timestamps of the API as text: RFC 3339 in UTC and whole seconds, the form of meta/v1 Time. Everything else counts in milliseconds
 * since 1970; nothing here reads a clock.
 */

/** `2026-01-31T12:00:00Z`; a fraction of a second is cut off, as the server does. Total over the years 0 to 9999. */
export const format = (millis: number): string => `${new Date(millis).toISOString().slice(0, 19)}Z`

/** Milliseconds since 1970; undefined for an absent, empty or unreadable text. Fractions and offsets are understood. */
export const parse = (text: string | undefined): number | undefined => {
  if (text === undefined || !rfc3339.test(text)) return undefined
  const millis = Date.parse(text)
  return Number.isNaN(millis) ? undefined : millis
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/
