/**
 * The names of a new operator: its own name, its kind, and the names derived from them. An invalid name is an error of one sentence that says what
 * is expected. Pure. Source: apimachinery validation DNS1123, apiextensions names.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

/** The user's input. */
export interface Said {
  /** The folder; its last segment is the operator's name. */
  readonly path: string
  readonly group: string
  readonly kind: string
  /** Undefined: derived from the kind. */
  readonly plural: string | undefined
}

export interface Names {
  /** The name of the package, the program, its Lease and its manifests. */
  readonly name: string
  readonly group: string
  /** `BlogPost`. */
  readonly kind: string
  /** `blogpost`. */
  readonly singular: string
  /** `blogposts`. */
  readonly plural: string
}

/** A name is invalid; nothing was written. */
export class InvalidNames extends Data.TaggedError("InvalidNames")<{ readonly message: string }> {}

/** `taken`: names that a kind cannot have, because the template's files import them. */
export const make = (said: Said, taken: ReadonlySet<string>): Result.Result<Names, InvalidNames> => {
  const name = lastOf(said.path)
  const singular = said.kind.toLowerCase()
  const names = { name, group: said.group, kind: said.kind, singular, plural: said.plural ?? pluralOf(singular) }
  const wrong = wrongName(name) ?? wrongGroup(said.group) ?? wrongKind(said.kind, taken) ?? wrongPlural(names)
  return wrong === undefined ? Result.succeed(names) : Result.fail(new InvalidNames({ message: wrong }))
}

/** The English plural. Source: apimachinery meta.UnsafeGuessKindToResource. */
export const pluralOf = (singular: string): string => {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

const lastOf = (path: string): string => path.split(/[/\\]/).findLast((part) => part !== "") ?? ""

const label = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"

const wrongName = (name: string): string | undefined =>
  /^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)
    ? undefined
    : `"${name}" cannot be the name of an operator: it must be lower-case letters, digits and dashes, at most 50, beginning with a letter`

const wrongGroup = (group: string): string | undefined => {
  if (!new RegExp(`^${label}(\\.${label})+$`).test(group) || group.length > 180) {
    return `--group does not take "${group}": it must be a domain like apps.example.com`
  }
  return /(^|\.)(k8s|kubernetes)\.io$/.test(group)
    ? `--group does not take "${group}": groups of k8s.io and kubernetes.io are Kubernetes' own`
    : undefined
}

const wrongKind = (kind: string, taken: ReadonlySet<string>): string | undefined => {
  if (!/^[A-Z][A-Za-z0-9]{0,62}$/.test(kind)) return `--kind does not take "${kind}": it must be a word like BlogPost`
  return taken.has(kind) || taken.has(`${kind}Controller`)
    ? `--kind does not take "${kind}": the files to be written mean something else by it`
    : undefined
}

const wrongPlural = ({ plural }: Names): string | undefined =>
  new RegExp(`^${label}$`).test(plural) && plural.length <= 63
    ? undefined
    : `--plural does not take "${plural}": it must be lower-case letters and digits, at most 63`
