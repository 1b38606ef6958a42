/** Which objects are watched, how, and what controllers may rely on when they read what was watched. */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type * as Cache from "../../layers/Cache.ts"
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"
import { type Resolved, written } from "../setting/sources.ts"

export const settings = {
  /** Each once, in the order they were given; none stands for all. */
  watchNamespaces: Setting.make(Codecs.namespaces, {
    name: "watch-namespaces",
    aliases: ["namespace"],
    env: "WATCH_NAMESPACE",
    group: "cache",
    description:
      "Namespaces to work in, between commas; without any all of them. Cluster-scoped kinds are not affected",
    default: ""
  }),
  watchNamespaceSelector: Setting.optional(Codecs.labels, {
    name: "watch-namespace-selector",
    env: "WATCH_NAMESPACE_SELECTOR",
    group: "cache",
    description: "Labels of the namespaces to work in, as they are at any moment, in place of a list of them"
  }),
  syncPeriod: Setting.make(Codecs.duration, {
    name: "sync-period",
    group: "cache",
    description:
      "Time after which controllers look at every cached object again, give or take a tenth; no request is made for it, 0 is never",
    default: "10h"
  }),
  minResyncPeriod: Setting.optional(Codecs.duration, {
    name: "min-resync-period",
    group: "cache",
    description: "The same as kube-controller-manager counts it: from once to twice this time, in place of sync-period"
  }),
  readYourWrites: Setting.make(Codecs.boolean, {
    name: "read-your-writes",
    group: "cache",
    description: "An object that a controller has written for waits until the cache shows what was written",
    default: "true"
  }),
  watchList: Setting.make(Codecs.choice(["auto", "never"]), {
    name: "watch-list",
    group: "cache",
    description:
      "Get the first list as a stream, which costs the server less: auto does where the server can, never does not",
    default: "auto"
  }),
  warm: Setting.make(Codecs.boolean, {
    name: "enable-warmup",
    group: "cache",
    description: "A standby keeps its caches filled, so that it works at once when it leads",
    default: "true"
  })
}

/** The setting that leaves namespaces out, as the user wrote it. */
export const restriction = ({ origins, values }: Resolved<typeof settings>): string | undefined => {
  if (values.watchNamespaces.length > 0) return written(origins.watchNamespaces)
  return Option.isSome(values.watchNamespaceSelector) ? written(origins.watchNamespaceSelector) : undefined
}

/** The cache as the settings want it. */
export const options = (values: Setting.Values<typeof settings>): Cache.Options => ({
  namespaces: Option.match(values.watchNamespaceSelector, {
    onNone: () => values.watchNamespaces,
    onSome: (labels) => ({ labels })
  }),
  resync: resync(values),
  readYourWrites: values.readYourWrites,
  streamingList: values.watchList
})

/** Zero is never, by whichever name. */
const resync = ({ minResyncPeriod, syncPeriod }: Setting.Values<typeof settings>): Cache.Options["resync"] => {
  const period = Option.getOrElse(minResyncPeriod, () => syncPeriod)
  if (Duration.isZero(period)) return undefined
  return { period, spread: Option.isSome(minResyncPeriod) ? "atLeast" : "around" }
}
