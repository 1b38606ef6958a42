/**
 * The resources that one server serves: the built-in ones and those of its CustomResourceDefinitions. A lookup is one map
 * access. `all` is replaced on each change and never mutated, so that derived values can be cached by its identity. A
 * definition cannot replace a built-in resource.
 */
import * as ResourceDefinition from "../scheme/ResourceDefinition.ts"
import * as resources from "../scheme/resources.ts"

export class ResourceRegistry {
  /** Built-in resources first, then custom ones by the name of their definition. */
  all: ReadonlyArray<ResourceDefinition.ResourceDefinition>
  private byPath: ReadonlyMap<string, ResourceDefinition.ResourceDefinition>
  private readonly builtIn: ReadonlyArray<ResourceDefinition.ResourceDefinition>
  private readonly builtInByPath: ReadonlyMap<string, ResourceDefinition.ResourceDefinition>
  private readonly byDefinition = new Map<string, ReadonlyArray<ResourceDefinition.ResourceDefinition>>()

  constructor(builtIn: ReadonlyArray<ResourceDefinition.ResourceDefinition> = resources.all) {
    this.builtIn = builtIn
    this.builtInByPath = new Map(builtIn.map((resource) => [pathOf(resource), resource]))
    this.all = builtIn
    this.byPath = this.builtInByPath
  }

  /** By `group/version/plural`, without the group for the core. */
  find(path: string): ResourceDefinition.ResourceDefinition | undefined {
    return this.byPath.get(path)
  }

  /** Names of the definitions whose resources are served. */
  definitions(): ReadonlyArray<string> {
    return [...this.byDefinition.keys()]
  }

  resourcesOf(definition: string): ReadonlyArray<ResourceDefinition.ResourceDefinition> {
    return this.byDefinition.get(definition) ?? []
  }

  /** Replaces the served resources of a definition; an empty list removes them. */
  put(definition: string, served: ReadonlyArray<ResourceDefinition.ResourceDefinition>): void {
    if (served.length === 0 && !this.byDefinition.has(definition)) return
    if (served.length === 0) this.byDefinition.delete(definition)
    else this.byDefinition.set(definition, served)
    const own = [...this.byDefinition.keys()].sort().flatMap((name) => this.byDefinition.get(name) ?? [])
    const added = own.filter((resource) => !this.builtInByPath.has(pathOf(resource)))
    this.all = added.length === 0 ? this.builtIn : [...this.builtIn, ...added]
    this.byPath =
      added.length === 0 ? this.builtInByPath : new Map(this.all.map((resource) => [pathOf(resource), resource]))
  }
}

const pathOf = (resource: ResourceDefinition.ResourceDefinition): string =>
  `${ResourceDefinition.apiVersion(resource)}/${resource.plural}`
