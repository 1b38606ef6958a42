/** Durations and ages as kubectl prints them. Pure. */

/** `5s`, `3m20s`, `2d5h`: at most two units, as kubectl prints ages. Source: apimachinery HumanDuration. */
export const humanDuration = (millis: number): string => {
  const seconds = Math.trunc(millis / 1000)
  if (seconds < -1) return "<invalid>"
  if (seconds < 0) return "0s"
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  const two = (large: number, unit: string, small: number, part: string): string =>
    small === 0 ? `${large}${unit}` : `${large}${unit}${small}${part}`
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s")
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return two(hours, "h", minutes % 60, "m")
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 192) return two(days, "d", hours % 24, "h")
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? two(years, "y", days % 365, "d") : `${years}y`
}
