/** How the kinds that controllers read are watched. */
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

export const settings = {
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
