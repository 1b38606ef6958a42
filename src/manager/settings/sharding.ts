/** Settings of sharding: whether replicas share the work, and in how many parts. */
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import { type Resolved, written } from "../setting/sources.ts"

export const settings = {
  sharding: Setting.make(Codecs.boolean, {
    name: "sharding",
    group: "leadership",
    description:
      "All replicas work: they divide the objects of controllers with shardBy; the other controllers run on the leader",
    default: "false"
  }),
  shards: Setting.make(Codecs.integer({ min: 1, max: 1024, expected: "a number from 1 to 1024" }), {
    name: "shards",
    group: "leadership",
    description:
      "Number of shards, the same in all replicas and several times their number; each is a Lease, and to change it all replicas must be stopped",
    default: "64"
  }),
  shardingCache: Setting.make(Codecs.choice(["all", "own"]), {
    name: "sharding-cache",
    group: "cache",
    description:
      "What a replica caches with --sharding: the objects of all namespaces, or of the namespaces of its own shards, by one watch for each namespace and kind",
    default: "all"
  })
}

/** A setting of sharding is given, and work is not divided. */
export const contradiction = ({ origins, values }: Resolved<typeof settings>): string | undefined => {
  const given = [origins.shards, origins.shardingCache].find(({ _tag }) => _tag !== "Default")
  return values.sharding || given === undefined
    ? undefined
    : `${written(given)} means nothing without --sharding: leave it out or add --sharding`
}

/** The number of shards, where a replica caches only the namespaces of its own. */
export const dividedCache = (values: Setting.Values<typeof settings>): number | undefined =>
  values.sharding && values.shardingCache === "own" ? values.shards : undefined
