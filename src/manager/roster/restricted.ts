/**
 * What becomes of the roster when only some namespaces are watched. A loop that draws conclusions from what is not there needs to see
 * all of the cluster: the garbage collector would take owners and dependents that it does not see for absent. Such a loop is off, and
 * asking for it by name is an error; half a picture is worse than none. Pure.
 */
import * as Result from "effect/Result"
import * as Roster from "../roster.ts"

/** `by`: the setting that restricts, as the user wrote it; undefined when all namespaces are watched. */
export const restricted = <R>(
  table: ReadonlyArray<Roster.Entry<R>>,
  patterns: ReadonlyArray<string>,
  by: string | undefined
): Result.Result<ReadonlyArray<Roster.Entry<R>>, Roster.RosterError> => {
  if (by === undefined) return Result.succeed(table)
  const wrong = table.find((entry) => entry.needsAllNamespaces === true && Roster.mentioned(entry, patterns) === true)
  if (wrong !== undefined) {
    const message = `"${wrong.controller.name}" needs all namespaces and cannot work with ${by}: leave one of them out`
    return Result.fail(new Roster.RosterError({ message }))
  }
  return Result.succeed(
    table.map((entry) => (entry.needsAllNamespaces === true ? Object.assign({}, entry, { byDefault: "off" }) : entry))
  )
}

/** One sentence for the start, about those that would have run otherwise; undefined when there is nothing to say. */
export const sentence = (entries: ReadonlyArray<Roster.Entry<unknown>>, by: string | undefined): string | undefined => {
  const names = entries
    .filter((entry) => entry.needsAllNamespaces === true)
    .map((entry) => `"${entry.controller.name}"`)
  return by === undefined || names.length === 0
    ? undefined
    : `Only some namespaces are watched (${by}): ${names.join(", ")} ${names.length === 1 ? "needs" : "need"} all of them and ${names.length === 1 ? "stays" : "stay"} off`
}
