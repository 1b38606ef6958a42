/**
 * The checks of a controller's declaration. `check` runs when the value is made, so a mistake fails at the first start of the program, or of
 * a test, with one sentence that says what to write instead. `Returning` is a check of the compiler. The registry checks that names are
 * unique.
 */
import * as Data from "effect/Data"
import type * as Access from "../../kube/Access.ts"
import * as Resource from "../../kube/Resource.ts"
import type * as Reconcile from "../../streams/reconcile/Reconcile.ts"

/** A controller was declared in a way that cannot work. Thrown by the call that declares it. */
export class InvalidController extends Data.TaggedError("InvalidController")<{
  /** The name in the declaration. */
  readonly controller: string
  /** What is wrong, and what to do. */
  readonly problem: string
}> {
  override get message(): string {
    return `controller ${JSON.stringify(this.controller)}: ${this.problem}`
  }
}

/** What a reconcile may return; the compiler names that when it returns something else. */
export type Returning<B> = [B] extends [Reconcile.Outcome | void]
  ? unknown
  : {
      readonly [
        Form in "reconcile" | "reconcileObject"
      ]?: Access.Missing<"a result that is nothing, Reconcile.done or Reconcile.after(…)">
    }

/** The fields of a declaration that are checked. */
export interface Declaration {
  readonly name: string
  readonly for?: Resource.Any | undefined
  readonly predicate?: unknown
  readonly reconcile?: unknown
  readonly reconcileObject?: unknown
  readonly finalizers?: Readonly<Record<string, unknown>> | undefined
  readonly owns: ReadonlyArray<Resource.Any>
  readonly watches: ReadonlyArray<Watched>
  readonly sources: ReadonlyArray<unknown>
  /** The kinds it may read from the cache. */
  readonly reads: ReadonlyArray<Resource.Any>
  readonly concurrency?: number | undefined
  readonly shardBy?: unknown
  readonly staysInNamespace?: boolean | undefined
  readonly needsLeader?: boolean | undefined
  readonly startFirst?: boolean | undefined
}

interface Watched {
  readonly resource: Resource.Any
  /** The kind in whose index it looks up keys. */
  readonly lookup?: Resource.Any | undefined
}

/** Throws if the declaration is invalid. */
export const check = (declaration: Declaration): void => fail(declaration.name, problemOf(declaration))

/** The same for a controller whose sources are not known before it runs. */
export const checkNamed = (declaration: Pick<Declaration, "name" | "concurrency">): void =>
  fail(declaration.name, problemOfName(declaration.name) ?? problemOfConcurrency(declaration.concurrency))

const fail = (controller: string, problem: string | undefined): void => {
  if (problem !== undefined) throw new InvalidController({ controller, problem })
}

const problemOf = (declaration: Declaration): string | undefined =>
  problemOfName(declaration.name) ??
  problemOfConcurrency(declaration.concurrency) ??
  problemOfForm(declaration) ??
  problemOfFinalizers(declaration) ??
  problemOfSources(declaration) ??
  problemOfShards(declaration) ??
  [...each(declaration.for), ...declaration.owns, ...declaration.watches.map(({ resource }) => resource)]
    .map(problemOfKind)
    .find((problem) => problem !== undefined) ??
  declaration.owns.map((owned) => problemOfOwned(owned, declaration.for)).find((problem) => problem !== undefined) ??
  problemOfLookups(declaration)

const each = <A>(value: A | undefined): ReadonlyArray<A> => (value === undefined ? [] : [value])

/** The rejected characters have a meaning in `--controllers`. */
const problemOfName = (name: string): string | undefined =>
  name !== "" && name === name.toLowerCase() && !/^-|[\s,*]/.test(name)
    ? undefined
    : "its name must be lower case, and may not be empty, begin with a dash or contain blanks, commas or asterisks"

const problemOfConcurrency = (concurrency: number | undefined): string | undefined =>
  concurrency === undefined || (Number.isInteger(concurrency) && concurrency >= 1)
    ? undefined
    : `concurrency must be a whole number of at least 1, not ${concurrency}`

const problemOfForm = (declaration: Declaration): string | undefined => {
  const { finalizers, for: kind, reconcile, reconcileObject } = declaration
  if (reconcile === undefined && reconcileObject === undefined) {
    return "it does nothing: declare `reconcile`, which is handed keys, or `reconcileObject`, which is handed objects"
  }
  if (reconcileObject === undefined) {
    return finalizers === undefined
      ? undefined
      : "`finalizers` go with `reconcileObject`: in a `reconcile` of keys, call `finalize`"
  }
  if (reconcile !== undefined)
    return "`reconcile` and `reconcileObject` are two forms of one thing: declare one of them"
  return kind === undefined ? "`reconcileObject` is handed objects of the `for` kind: declare `for`" : undefined
}

/** Source: apimachinery validation.ValidateFinalizerName, which requires a qualified name. */
const problemOfFinalizers = ({ finalizers = {} }: Declaration): string | undefined => {
  const bad = Object.keys(finalizers).find(
    (name) => !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/.test(name)
  )
  return bad === undefined
    ? undefined
    : `the finalizer ${JSON.stringify(bad)} must have the form \`example.com/what-for\``
}

const problemOfSources = (declaration: Declaration): string | undefined => {
  if (declaration.for !== undefined) return undefined
  if (declaration.owns.length > 0) return "`owns` leads from dependents to objects of the `for` kind: declare `for`"
  if (declaration.predicate !== undefined) return "`predicate` filters changes of the `for` kind: declare `for`"
  return declaration.watches.length + declaration.sources.length === 0
    ? "nothing would ever ask for a reconcile: declare `for`, `watches` or `sources`"
    : undefined
}

const problemOfShards = (declaration: Declaration): string | undefined => {
  const { for: kind, needsLeader, shardBy, startFirst, staysInNamespace } = declaration
  if (staysInNamespace === true && shardBy !== "namespace")
    return '`staysInNamespace` is for controllers whose objects are divided by namespace: declare `shardBy: "namespace"`'
  if (shardBy === undefined) return undefined
  if (kind === undefined) return "`shardBy` divides the objects of the `for` kind: declare `for`"
  if (shardBy === "namespace" && kind.scope === "Cluster")
    return `\`shardBy: "namespace"\` cannot divide ${kind.kind}, which is cluster-scoped: use "key"`
  if (needsLeader === false)
    return "`needsLeader: false` runs it for all objects on every replica, and `shardBy` divides them: declare one of them"
  return startFirst === true
    ? "`startFirst` is for what other controllers wait for, and a replica does only a part of it: leave `shardBy` out"
    : undefined
}

const problemOfKind = (resource: Resource.Any): string | undefined =>
  [resource.version, resource.kind, resource.plural].every((part) => part !== "" && part !== "*")
    ? undefined
    : `${Resource.apiVersion(resource)} ${resource.kind} is no kind that a server can be asked to watch: name one`

const problemOfOwned = (owned: Resource.Any, owner: Resource.Any | undefined): string | undefined =>
  owned.scope === "Cluster" && owner?.scope === "Namespaced"
    ? `it cannot own ${owned.kind}, which is cluster-scoped, from ${owner.kind}, which is not: use \`watches\` with \`Trigger.annotation\``
    : undefined

const problemOfLookups = ({ reads, watches }: Declaration): string | undefined => {
  const ids = new Set(reads.map(({ id }) => id))
  const missing = watches.map(({ lookup }) => lookup).find((lookup) => lookup !== undefined && !ids.has(lookup.id))
  return missing === undefined
    ? undefined
    : `a source looks up ${missing.kind} by an index, but it does not read them: declare \`Access.read(${missing.kind})\``
}
