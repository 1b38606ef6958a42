/**
 * The output of `crds`: the custom kinds of the selected controllers, and what was or would be done with their definitions. Each difference is a
 * line of its own with its path, so that the output can be searched and compared. Pure.
 */
import type * as Access from "../../kube/Access.ts"
import * as Resource from "../../kube/Resource.ts"
import { oneLine } from "../../kube/printable.ts"
import type { Broken, Difference } from "./compare.ts"
import type { Comparison, Installed } from "./Definitions.ts"

/** The output if no controller declares a custom kind. */
export const none = "none of the chosen controllers declares a kind of its own"

/** The kinds that the controllers declare with Schemas, and those of the program without a controller, each once, by name. */
export const kindsOf = (
  controllers: ReadonlyArray<{ readonly access: ReadonlyArray<Access.Any> }>,
  further: ReadonlyArray<{ readonly kind: Resource.AnyCustom }>
): ReadonlyArray<Resource.AnyCustom> => {
  const declared = controllers.flatMap(({ access }) =>
    access.flatMap(({ resource }) => (Resource.isCustom(resource) ? [resource] : []))
  )
  const kinds = [...declared, ...further.map(({ kind }) => kind)]
  const byName = new Map(kinds.map((kind) => [Resource.qualifiedName(kind), kind]))
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind)
}

/** In a dry run it says that it is one. */
export const outcome = (one: Installed, isDryRun: boolean): string =>
  isDryRun ? `${one.outcome} (dry run)` : one.outcome

/** `memcacheds.cache.example.com created`. */
export const installed = (all: ReadonlyArray<Installed>, isDryRun = false): string =>
  all.length === 0 ? none : all.map((one) => `${one.name} ${outcome(one, isDryRun)}`).join("\n")

export const compared = (all: ReadonlyArray<Comparison>): string =>
  all.length === 0 ? none : all.map((one) => comparison(one)).join("\n")

/** One sentence if `install` would write something or would affect stored objects; undefined otherwise. */
export const verdict = (all: ReadonlyArray<Comparison>): string | undefined => {
  const different = all.filter(({ differences, isNew }) => isNew || differences.length > 0)
  const objects = all.reduce((count, { broken }) => count + broken.length, 0)
  if (different.length + objects === 0) return undefined
  return `${different.length} of ${all.length} definitions differ from what is in the cluster, ${objects} stored objects would suffer`
}

const comparison = ({ broken, differences, isNew, name }: Comparison): string => {
  if (isNew) return `${name} is not in the cluster`
  const lines = [...differences.map(difference), ...broken.flatMap(suffering)]
  if (lines.length === 0) return `${name} is the same`
  return [`${name} would change`, ...lines.map((line) => `  ${oneLine(line)}`)].join("\n")
}

const difference = ({ from, path, to }: Difference): string => {
  if (from === undefined) return `+ ${path}: ${JSON.stringify(to)}`
  if (to === undefined) return `- ${path}: ${JSON.stringify(from)}`
  return `~ ${path}: ${JSON.stringify(from)} becomes ${JSON.stringify(to)}`
}

const suffering = ({ dropped, object, refused }: Broken): ReadonlyArray<string> => [
  ...refused.map((why) => `! ${object} would be refused: ${why}`),
  ...dropped.map((path) => `! ${object} would lose ${path}`)
]
