/** `manifests`: prints the objects that a cluster needs to run the program, or writes them to a directory. */
import * as Effect from "effect/Effect"
import * as Crd from "../../kube/crd/Crd.ts"
import * as Report from "../../manager/crds/report.ts"
import type { Host } from "../../manager/process/Host.ts"
import * as Manifests from "../../manager/manifests/command.ts"
import { files } from "../../manager/manifests/objects.ts"
import { settings } from "../../manager/manifests/settings.ts"
import * as Metrics from "../../manager/manifests/metrics.ts"
import * as Webhooks from "../../manager/manifests/webhooks.ts"
import { Program } from "../../manager/Program.ts"
import * as Registry from "../../manager/registry.ts"
import * as SettingSources from "../../manager/setting/sources.ts"
import type { ConversionOf } from "../../manager/webhooks/configurations.ts"
import { accountOf } from "../identities.ts"
import * as Files from "../output/files.ts"
import { tableOf } from "../selection.ts"
import { certified, served } from "../webhooks.ts"

/** For a real cluster, which has its own controller manager. No cluster is contacted. */
export const manifests = Effect.fnUntraced(function* (host: Host, resolved: SettingSources.Resolved<typeof settings>) {
  const { kinds, manifests: all, name } = yield* Program
  const table = yield* tableOf(resolved)
  if (Metrics.isUnreachable(resolved.values)) {
    return yield* new SettingSources.SettingError({
      message: `--${settings.serviceMonitor.name} would collect nothing: metrics are off, or plain, which keeps them on loopback; leave it out or serve them with --${settings.metricsSecure.name}`
    })
  }
  const { chosen } = yield* Effect.fromResult(Registry.select(table, resolved.values.controllers, { embedded: false }))
  const controllers = chosen.map((entry) => ({
    who: entry.controller.name,
    access: entry.controller.access,
    account: accountOf(resolved.values, entry),
    needsLeader: entry.controller.needsLeader,
    sharded: entry.controller.sharded,
    isCore: entry.group === "core"
  }))
  const webhooks = served(resolved.values, [...chosen, ...kinds])
  if (webhooks.length > 0) yield* certified(resolved.values)
  const definitions = yield* Effect.forEach(Report.kindsOf(controllers, kinds), (kind) =>
    Effect.fromResult(Crd.make(kind))
  )
  const { conversions } = Webhooks.configurationsOf({ name, namespace: resolved.values.installNamespace }, webhooks)
  const documents = [
    ...definitions.map((one) => converting(one, conversions)),
    ...Manifests.manifests(resolved, controllers, { name, settings: all, webhooks })
  ]
  return yield* Files.write(host, resolved.values.out, { documents, files: files(documents) })
})

/** Adds the conversion if a webhook of the program does it. */
const converting = (one: Crd.CustomResourceDefinition, conversions: ReadonlyArray<ConversionOf>) => {
  const found = conversions.find(({ definition }) => definition === one.metadata.name)
  return found === undefined ? one : { ...one, spec: { ...one.spec, conversion: found.conversion } }
}
