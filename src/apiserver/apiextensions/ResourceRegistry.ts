/**
 * The kinds that one server serves: the built-in ones, and those of its definitions. Finding a kind is one map access, whether there are
 * definitions or not. `all` is another array after every change and the same in between, so that what is made of it may be kept by
 * it. A built-in kind is never replaced.
 */
import * as Kind from "../scheme/Kind.ts"
import * as kinds from "../scheme/kinds.ts"

export class ResourceRegistry {
  /** Built-in kinds first, then those of definitions by name. */
  all: ReadonlyArray<Kind.Kind> = kinds.all
  /** Whether there are kinds that webhooks convert. */
  converts = false
  private byPath: ReadonlyMap<string, Kind.Kind> = builtIn
  private readonly byDefinition = new Map<string, ReadonlyArray<Kind.Kind>>()

  /** By `group/version/plural`, without the group for the core. */
  find(path: string): Kind.Kind | undefined {
    return this.byPath.get(path)
  }

  /** Names of the definitions whose kinds are served. */
  definitions(): ReadonlyArray<string> {
    return [...this.byDefinition.keys()]
  }

  kindsOf(definition: string): ReadonlyArray<Kind.Kind> {
    return this.byDefinition.get(definition) ?? []
  }

  /** Serves the kinds of a definition instead of those it had; none to serve it no longer. */
  put(definition: string, rows: ReadonlyArray<Kind.Kind>): void {
    if (rows.length === 0 && !this.byDefinition.has(definition)) return
    if (rows.length === 0) this.byDefinition.delete(definition)
    else this.byDefinition.set(definition, rows)
    const own = [...this.byDefinition.keys()].sort().flatMap((name) => this.byDefinition.get(name) ?? [])
    const added = own.filter((kind) => !builtIn.has(pathOf(kind)))
    this.all = added.length === 0 ? kinds.all : [...kinds.all, ...added]
    this.converts = own.some((kind) => kind.custom?.converter !== undefined)
    this.byPath = added.length === 0 ? builtIn : new Map(this.all.map((kind) => [pathOf(kind), kind]))
  }
}

const pathOf = (kind: Kind.Kind): string => `${Kind.apiVersion(kind)}/${kind.plural}`

const builtIn: ReadonlyMap<string, Kind.Kind> = new Map(kinds.all.map((kind) => [pathOf(kind), kind]))
