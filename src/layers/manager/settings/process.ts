/** What concerns the process as such. */
import * as Setting from "../setting.ts"
import * as Codecs from "../setting/codecs.ts"

export const settings = {
  config: Setting.optional(Codecs.text("file"), {
    name: "config",
    group: "process",
    description: "YAML or JSON file with settings: the names of flags without dashes in front, and their values"
  }),
  shutdownTimeout: Setting.make(Codecs.duration, {
    name: "graceful-shutdown-timeout",
    group: "process",
    description: "Time for an orderly stop; then the process exits 1",
    default: "30s"
  })
}
