/** Places in an object, and values there. */
import * as StructuralSchema from "../../../kube/structural/StructuralSchema.ts"

/** Names of members and indexes of elements: `["spec", "ports", 0]`. */
export type Path = ReadonlyArray<string | number>

/** `spec.ports[0]`. */
export const text = (path: Path): string =>
  path.map((step, i) => (typeof step === "number" ? `[${step}]` : i === 0 ? step : `.${step}`)).join("")

/** `/spec/ports/0`, as RFC 6901 has it. */
export const pointer = (path: Path): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")

/** The value there; undefined where there is none. */
export const get = (value: unknown, path: Path): unknown => path.reduce<unknown>(step, value)

const step = (value: unknown, name: string | number): unknown => {
  if (Array.isArray(value)) return typeof name === "number" ? value[name] : undefined
  return StructuralSchema.isMembers(value) ? StructuralSchema.member(value, String(name)) : undefined
}

/** A copy with another value there; undefined removes it. The value that has it must exist. */
export const put = (value: unknown, [name, ...rest]: Path, inner: unknown): unknown => {
  if (name === undefined) return inner
  const changed = put(step(value, name), rest, inner)
  if (Array.isArray(value)) return value.with(Number(name), changed)
  const others = Object.entries(value as object).filter(([key]) => key !== name)
  return Object.fromEntries(changed === undefined ? others : [...others, [name, changed]])
}
