/** `dashboards`: prints the Grafana dashboards of the program in a ConfigMap, or writes each as a JSON file to a directory. No cluster is contacted. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Setting from "../../layers/Setting.ts"
import * as Codecs from "../../layers/setting/codecs.ts"
import * as Dashboards from "../../manager/dashboards/all.ts"
import { own } from "../../manager/manifests/settings.ts"
import type { Host } from "../../manager/process/Host.ts"
import { Program } from "../../manager/Program.ts"
import * as Registry from "../../manager/registry.ts"
import type * as SettingSources from "../../manager/setting/sources.ts"
import * as Settings from "../../manager/settings.ts"
import * as Files from "../output/files.ts"
import { tableOf } from "../selection.ts"

/** Settings of the command itself. */
export const settings = {
  installNamespace: own.installNamespace,
  out: Setting.optional(Codecs.text("directory"), {
    name: own.out.name,
    env: false,
    group: "command",
    description: "Directory to write each dashboard to as a JSON file, instead of printing them in a ConfigMap"
  })
}

const allSettings = { ...Settings.common, ...settings }

/** `*` stands for all controllers, including those that run on a real cluster only if they are named, as for `crds`. */
export const dashboards = Effect.fnUntraced(function* (
  host: Host,
  resolved: SettingSources.Resolved<typeof allSettings>
) {
  const { name } = yield* Program
  const table = yield* tableOf(resolved)
  const { controllers, installNamespace, out } = resolved.values
  const { chosen } = yield* Effect.fromResult(Registry.select(table, controllers, { embedded: true }))
  const all = Dashboards.all(
    name,
    chosen.map(({ controller }) => controller)
  )
  return yield* Option.match(out, {
    onNone: () =>
      Files.write(host, Option.none(), {
        documents: [Dashboards.configMap(all, { name, namespace: installNamespace })],
        files: []
      }),
    onSome: (directory) => Files.writeTexts(host, directory, Dashboards.files(all))
  })
})
