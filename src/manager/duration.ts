/**
 * Durations as users write them: Go's form (`1m30s`, `250ms`, `1.5h`), which every Kubernetes flag takes, and Effect's
 * (`90 seconds`). A bare number has no unit and is refused, except zero.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Time from "../kube/time.ts"

/** Nothing if the text is not a duration, or a negative one. */
export const parse = (text: string): Option.Option<Duration.Duration> => {
  const trimmed = text.trim()
  const millis = Time.parseGoDuration(trimmed)
  if (millis !== undefined) return Option.some(Duration.millis(millis))
  if (!/^\d+(?:\.\d+)? [a-z]+$/.test(trimmed)) return Option.none()
  return Option.filter(Duration.fromInput(trimmed as Duration.Input), (duration) => !Duration.isNegative(duration))
}
