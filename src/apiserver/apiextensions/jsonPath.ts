/**
 * The simple JSON paths of a CustomResourceDefinition: `.spec.replicas`, `.spec.list[0].name`, `.status.conditions[?(@.type=="Ready")].status`,
 * `.metadata.annotations.example\.com/a`, `['a.b']`. A path of another form finds nothing. Source: client-go util/jsonpath, of which
 * these are the forms that definitions use.
 */
import { get, isObject } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"

type Step =
  | { readonly _tag: "Member"; readonly name: string }
  | { readonly _tag: "Index"; readonly index: number }
  | { readonly _tag: "All" }
  | { readonly _tag: "Where"; readonly path: ReadonlyArray<string>; readonly value: Json }

const tokens =
  /\.((?:[^.[\]\\]|\\.)+)|\[(-?\d+)\]|\[['"]([^'"]*)['"]\]|\[(\*)\]|\[\?\(@((?:\.[^=!<>\s]+))\s*==\s*(?:"([^"]*)"|'([^']*)'|([^)\s]+))\)\]/y

/** The steps of a path; undefined for a path of another form. */
export const parse = (text: string): ReadonlyArray<Step> | undefined => {
  const path = text.replace(/^\{(.*)\}$/, "$1")
  const steps: Array<Step> = []
  let at = 0
  while (at < path.length) {
    tokens.lastIndex = at
    const match = tokens.exec(path)
    if (match === null) return undefined
    at = tokens.lastIndex
    steps.push(stepOf(match))
  }
  return steps.length === 0 ? undefined : steps
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, "$1")

const stepOf = ([, name, index, quoted, all, where, double, single, bare]: RegExpExecArray): Step => {
  if (name !== undefined) return name === "*" ? { _tag: "All" } : { _tag: "Member", name: unescaped(name) }
  if (index !== undefined) return { _tag: "Index", index: Number(index) }
  if (quoted !== undefined) return { _tag: "Member", name: quoted }
  if (all !== undefined) return { _tag: "All" }
  const path = (where ?? "")
    .slice(1)
    .split(/(?<!\\)\./)
    .map(unescaped)
  return { _tag: "Where", path, value: double ?? single ?? literal(bare ?? "") }
}

const literal = (text: string): Json =>
  text === "true" ? true : text === "false" ? false : /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text

/** The first value at a path. */
export const first = (steps: ReadonlyArray<Step>, object: JsonObject): Json | undefined => {
  let found: ReadonlyArray<Json> = [object]
  for (const step of steps) found = found.flatMap((value) => follow(step, value))
  return found[0]
}

const follow = (step: Step, value: Json): ReadonlyArray<Json> => {
  switch (step._tag) {
    case "Member":
      return isObject(value) ? present(get(value, step.name)) : []
    case "Index":
      return Array.isArray(value) ? present(value.at(step.index)) : []
    case "All":
      return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
    case "Where":
      return Array.isArray(value) ? value.filter((one) => reached(step.path, one) === step.value) : []
  }
}

const present = (value: Json | undefined): ReadonlyArray<Json> => (value === undefined ? [] : [value])

const reached = (path: ReadonlyArray<string>, from: Json): Json | undefined => {
  let value: Json | undefined = from
  for (const name of path) value = isObject(value) ? get(value, name) : undefined
  return value
}

/** The names of a path that consists of members only, as those of the scale subresource; undefined for any other. */
export const members = (text: string): ReadonlyArray<string> | undefined => {
  const steps = parse(text)
  if (steps === undefined) return undefined
  const names = steps.flatMap((step) => (step._tag === "Member" ? [step.name] : []))
  return names.length === steps.length ? names : undefined
}
