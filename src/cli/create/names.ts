/**
 * The names of what `create` writes: a project, a kind, a version, a controller, and the names derived from them. An invalid name is an error of one
 * sentence that says what is expected. Pure. Source: apimachinery validation DNS1123, version.kubeAwareVersion, apiextensions names.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

/** The user's input for a kind. */
export interface Said {
  readonly group: string
  readonly kind: string
  readonly version: string
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
  /** `v1alpha1`. */
  readonly version: string
}

/** A name is invalid, or exists already; nothing was written. */
export class InvalidNames extends Data.TaggedError("InvalidNames")<{ readonly message: string }> {}

const checked = <A>(value: A, wrong: string | undefined): Result.Result<A, InvalidNames> =>
  wrong === undefined ? Result.succeed(value) : Result.fail(new InvalidNames({ message: wrong }))

/** `path`: the folder of a new project; its last segment is the operator's name. */
export const project = (path: string): Result.Result<string, InvalidNames> => {
  const name = path.split(/[/\\]/).findLast((part) => part !== "") ?? ""
  return checked(name, wrongName(name))
}

/** The names of a kind in a project. `taken`: names that a kind cannot have, because the template's files import them. */
export const make = (name: string, said: Said, taken: ReadonlySet<string>): Result.Result<Names, InvalidNames> => {
  const singular = said.kind.toLowerCase()
  const { group, kind, version } = said
  const names = { name, group, kind, singular, plural: said.plural ?? pluralOf(singular), version }
  return checked(names, wrongGroup(group) ?? wrongKind(kind, taken) ?? wrongVersion(version) ?? wrongPlural(names))
}

export const version = (said: string): Result.Result<string, InvalidNames> => checked(said, wrongVersion(said))

/** The name of a controller: `pod-janitor`. */
export const controller = (said: string): Result.Result<string, InvalidNames> =>
  checked(
    said,
    /^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(said)
      ? undefined
      : `--name does not take "${said}": it must be lower-case letters, digits and dashes, at most 50, beginning with a letter`
  )

/** The English plural. Source: apimachinery meta.UnsafeGuessKindToResource. */
export const pluralOf = (singular: string): string => {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/** `pod-janitor` as `PodJanitor`, `v1beta1` as `V1beta1`. */
export const capitalized = (name: string): string =>
  name
    .split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("")

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

const wrongVersion = (version: string): string | undefined =>
  /^v[1-9][0-9]{0,3}((alpha|beta)[1-9][0-9]{0,3})?$/.test(version)
    ? undefined
    : `--version does not take "${version}": it must be like v1, v1beta1 or v2alpha1`

const wrongPlural = ({ plural }: Names): string | undefined =>
  new RegExp(`^${label}$`).test(plural) && plural.length <= 63
    ? undefined
    : `--plural does not take "${plural}": it must be lower-case letters and digits, at most 63`
