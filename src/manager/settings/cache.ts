/** Settings of the cache: which objects are watched, how, and what controllers may rely on when they read from it. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Cache from "../../layers/Cache.ts"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import { type Resolved, written } from "../setting/sources.ts"

export const settings = {
  /** Each once, in the given order; an empty list means all namespaces. */
  watchNamespaces: Setting.make(Codecs.namespaces, {
    name: "watch-namespaces",
    aliases: ["namespace"],
    env: "WATCH_NAMESPACE",
    group: "cache",
    description: "Namespaces to watch, separated by commas; default is all. Cluster-scoped kinds are not affected",
    default: ""
  }),
  watchNamespaceSelector: Setting.optional(Codecs.labels, {
    name: "watch-namespace-selector",
    env: "WATCH_NAMESPACE_SELECTOR",
    group: "cache",
    description: "Label selector of the namespaces to watch, instead of a list; it follows changes of the labels"
  }),
  syncPeriod: Setting.make(Codecs.duration, {
    name: "sync-period",
    group: "cache",
    description:
      "Time after which controllers reconcile every cached object again, with a jitter of a tenth; it causes no requests, 0 means never",
    default: "10h"
  }),
  minResyncPeriod: Setting.optional(Codecs.duration, {
    name: "min-resync-period",
    group: "cache",
    description:
      "The same with the jitter of kube-controller-manager, from once to twice this time; replaces sync-period"
  }),
  readYourWrites: Setting.make(Codecs.boolean, {
    name: "read-your-writes",
    group: "cache",
    description: "An object is not reconciled again until the cache contains the controller's own last writes",
    default: "true"
  }),
  watchList: Setting.make(Codecs.choice(["auto", "never"]), {
    name: "watch-list",
    group: "cache",
    description:
      "Get the first list as a stream, which needs less memory in the server: auto if the server supports it, or never",
    default: "auto"
  }),
  warm: Setting.make(Codecs.boolean, {
    name: "enable-warmup",
    group: "cache",
    description: "A standby keeps its caches synced, so that its controllers start at once when it leads",
    default: "true"
  })
}

/** The setting that restricts the namespaces, as the user wrote it. */
export const restriction = ({ origins, values }: Resolved<typeof settings>): string | undefined => {
  if (values.watchNamespaces.length > 0) return written(origins.watchNamespaces)
  return Option.isSome(values.watchNamespaceSelector) ? written(origins.watchNamespaceSelector) : undefined
}

/** The options of the cache. */
export const options = (values: Setting.Values<typeof settings>): Cache.Options => ({
  namespaces: Option.match(values.watchNamespaceSelector, {
    onNone: () => values.watchNamespaces,
    onSome: (labels) => ({ labels })
  }),
  resync: resync(values),
  readYourWrites: values.readYourWrites,
  streamingList: values.watchList
})

/** Zero means never, for both settings. */
const resync = ({ minResyncPeriod, syncPeriod }: Setting.Values<typeof settings>): Cache.Options["resync"] => {
  const period = Option.getOrElse(minResyncPeriod, () => syncPeriod)
  if (Duration.isZero(period)) return undefined
  return { period, spread: Option.isSome(minResyncPeriod) ? "atLeast" : "around" }
}
