/** The state of one leadership term: the watched kinds with their stores, and a ledger for each namespace with a quota. Plain and synchronous. */
import * as Key from "../../kube/Key.ts"
import type { KubeObject } from "../../kube/Meta.ts"
import * as Quantity from "../../kube/quantity.ts"
import * as Names from "../../kube/quota/names.ts"
import * as Scopes from "../../kube/quota/scopes.ts"
import * as Usage from "../../kube/quota/usage.ts"
import type * as Resource from "../../kube/Resource.ts"
import type { ResourceQuota } from "../../kube/resources.ts"
import * as Store from "../../streams/store/Store.ts"
import * as Ledger from "./ledger.ts"

type Objects = Store.Readable<KubeObject>

export interface State {
  /** Whether quotas are synced: from when all informers have synced or timed out. */
  hasBegun: boolean
  /** Quotas whose usage may have decreased since the last sync. */
  readonly freeing: Set<Key.Key>
  /** Namespaces to be recounted in the next sync. */
  readonly stale: Set<string>
  /** By namespace, for exactly the namespaces with a quota. */
  readonly ledgers: ReadonlyMap<string, Ledger.Ledger>
  /** A kind is watched from now on, in this version. */
  readonly watched: (resource: Resource.Any, objects: Objects) => void
  /** A kind is no longer watched in this version. */
  readonly unwatched: (resource: Resource.Any) => void
  /** A quota was created, or its limits changed. */
  readonly open: (quota: ResourceQuota, now: number) => void
  readonly close: (quota: ResourceQuota) => void
  /** Recounts all usage of a namespace. */
  readonly recount: (namespace: string, now: number) => void
  /** The usage of a quota by resource name; undefined while unknown. */
  readonly usedOf: (quota: ResourceQuota) => (name: string) => Quantity.Quantity | undefined
}

const namespaceOf = ({ metadata }: KubeObject): string => metadata.namespace ?? ""

/** The fields that quotas read. Source: resource.k8s.io DeviceClass. */
interface DeviceClass extends KubeObject {
  readonly spec?: { readonly extendedResourceName?: string }
}

export const extendedResourceOf = ({ spec }: DeviceClass): string | undefined => spec?.extendedResourceName

export const make = (): State => {
  const ledgers = new Map<string, Ledger.Ledger>()
  /** By id of the kind, which is the same for all versions. */
  const kinds = new Map<string, { readonly version: string; readonly objects: Objects }>()

  const extendedResource = (className: string): string | undefined => {
    const found = kinds.get(Names.idOf(Names.deviceClasses))?.objects.get(Key.make(undefined, className))
    return found === undefined ? undefined : extendedResourceOf(found)
  }

  const contents =
    (namespace: string): Ledger.Contents =>
    (kind) =>
      (kinds.get(Names.idOf(kind))?.objects.byIndex(Store.namespaceIndex, namespace) ?? []).map((object) => [
        Key.of(object),
        object
      ])

  return {
    hasBegun: false,
    freeing: new Set(),
    stale: new Set(),
    ledgers,
    watched: (resource, objects) => void kinds.set(Names.idOf(resource), { version: resource.version, objects }),
    unwatched: (resource) => {
      if (kinds.get(Names.idOf(resource))?.version === resource.version) kinds.delete(Names.idOf(resource))
    },
    open: (quota, now) => {
      const namespace = namespaceOf(quota)
      const ledger = ledgers.get(namespace) ?? new Ledger.Ledger(extendedResource)
      ledgers.set(namespace, ledger)
      const names = Object.keys(quota.spec?.hard ?? {})
      ledger.open(Key.of(quota), { names, scopes: Scopes.of(quota) }, contents(namespace), now)
    },
    close: (quota) => {
      const namespace = namespaceOf(quota)
      const ledger = ledgers.get(namespace)
      ledger?.close(Key.of(quota))
      if (ledger?.isEmpty === true) ledgers.delete(namespace)
    },
    recount: (namespace, now) => ledgers.get(namespace)?.recount(contents(namespace), now),
    usedOf: (quota) => {
      const namespace = namespaceOf(quota)
      const isScoped = Scopes.of(quota).length > 0
      return (name) => {
        const counted = Names.kindsOf(name)
        // DeviceClasses are cluster-scoped, so no quota counts them.
        if (counted.some((kind) => Names.isSame(kind, Names.deviceClasses))) return undefined
        // Without served ResourceClaims, extended resources are counted from pods alone.
        const watched = counted.flatMap((kind) => kinds.get(Names.idOf(kind))?.objects ?? [])
        const [objects] = watched
        if (objects === undefined || watched.some(({ synced }) => !synced)) return undefined
        if (counted.some(Usage.isMeasured)) return ledgers.get(namespace)?.used(Key.of(quota), name)
        // Scopes match only measured kinds; a quota with scopes counts no others.
        return Quantity.whole(isScoped ? 0 : objects.countByIndex(Store.namespaceIndex, namespace))
      }
    }
  }
}
