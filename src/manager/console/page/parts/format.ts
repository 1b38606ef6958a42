/** Figures as text. */

const count = new Intl.NumberFormat("en")
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })

export const formatCount = (value: number): string => (value < 100_000 ? count.format(value) : short.format(value))

/** `0`, `0.02`, `3.4`, `120`. */
export const formatRate = (value: number): string => {
  if (value === 0) return "0"
  if (value < 0.01) return "<0.01"
  if (value < 1) return value.toFixed(2)
  return value < 10 ? value.toFixed(1) : formatCount(Math.round(value))
}

/** `0.4 ms`, `12 ms`, `3.1 s`, `4 m 10 s`, `2 h 5 m`, `3 d 4 h`. */
export const formatDuration = (milliseconds: number | null | undefined): string => {
  if (milliseconds === null || milliseconds === undefined) return "–"
  const value = Math.max(0, milliseconds)
  if (value === 0) return "0 ms"
  if (value < 10) return `${value.toFixed(1)} ms`
  if (value < 1000) return `${Math.round(value)} ms`
  const seconds = value / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  const [units, large, small]: readonly [number, string, string] =
    seconds < 3600 ? [60, "m", "s"] : seconds < 86_400 ? [3600, "h", "m"] : [86_400, "d", "h"]
  const rest = Math.floor((seconds % units) / (large === "m" ? 1 : units / (large === "h" ? 60 : 24)))
  return `${Math.floor(seconds / units)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`
}

/** `now`, `12 s ago`. */
export const formatAge = (now: number, at: number | null): string => {
  if (at === null) return "never"
  const age = now - at
  return age < 1000 ? "now" : `${formatDuration(Math.floor(age / 1000) * 1000)} ago`
}

/** `due now`, `in 12 s`. */
export const formatDue = (now: number, at: number): string => {
  const left = at - now
  return left <= 0 ? "now" : `in ${formatDuration(Math.ceil(left / 1000) * 1000)}`
}

export const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return `${bytes} B`
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${["B", "KiB", "MiB", "GiB", "TiB"][power] ?? ""}`
}

/** `12:04:31.250`. */
export const formatTime = (at: number): string => {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return "–"
  const two = (value: number) => String(value).padStart(2, "0")
  const milliseconds = String(date.getMilliseconds()).padStart(3, "0")
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${milliseconds}`
}

/** `1 pod`, `2 pods`. */
export const plural = (value: number, one: string): string => `${formatCount(value)} ${one}${value === 1 ? "" : "s"}`
