/** The way to a value inside an object, as people write it: `spec.members[0].name`, `metadata.labels["a.b/c"]`. Empty for the whole. */
export const at = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>((text, part) => below(text, part), "")

/** One step further: a field, or an element where the step is a number. */
export const below = (path: string, part: PropertyKey): string => {
  if (typeof part === "number") return `${path}[${part}]`
  const name = String(part)
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === "" ? name : `${path}.${name}`
}
