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
  })
}

/** The number of shards is set, and work is not divided. */
export const contradiction = ({ origins, values }: Resolved<typeof settings>): string | undefined =>
  values.sharding || origins.shards._tag === "Default"
    ? undefined
    : `${written(origins.shards)} means nothing without --sharding: leave it out or add --sharding`
