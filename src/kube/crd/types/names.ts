/**
 * Names of constants and types in a generated module: `HTTPRouteSpecRules` for the objects of `spec.rules[]` of an HTTPRoute. They are made of
 * the path alone, so that an unrelated change of a definition leaves them as they are. A name that is taken gets a number.
 */

/** A function that returns the name for a path; it never returns the same name twice. */
export const make = (reserved: Iterable<string>): ((path: ReadonlyArray<string>) => string) => {
  const taken = new Set(reserved)
  return (path) => {
    const wanted = path.map(pascal).join("")
    const base = /^[A-Z]/.test(wanted) ? wanted : `Type${wanted}`
    let name = base
    for (let number = 2; taken.has(name); number += 1) name = `${base}${number}`
    taken.add(name)
    return name
  }
}

/** `tls-secret` as `TlsSecret`; characters that a name cannot have only separate words. */
export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("")
