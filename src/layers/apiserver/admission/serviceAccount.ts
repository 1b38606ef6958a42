/**
 * A pod runs as an account that exists. Tokens are not mounted: there is nobody in a simulated pod to use them. Source: the
 * ServiceAccount plugin of the reference server.
 */
import { arrayAt, ensureObject, get, textAt } from "../json.ts"
import * as Refusal from "../Refusal.ts"
import type { Plugin } from "./Admission.ts"
import { isPod } from "./pods.ts"
import * as stored from "./stored.ts"

const mirror = "kubernetes.io/config.mirror"

export const serviceAccount: Plugin = {
  name: "ServiceAccount",
  admit: (write) => {
    const { before, object, target, turn } = write
    if (before !== undefined || !isPod(write) || textAt(object, "metadata", "annotations", mirror) !== "") return
    const spec = ensureObject(object, "spec")
    const name = textAt(spec, "serviceAccountName") || "default"
    spec["serviceAccountName"] = name
    spec["serviceAccount"] = name
    const account = stored.object(turn, "serviceaccounts", target.namespace, name)
    if (account === undefined) {
      const why = `error looking up service account ${target.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
      throw Refusal.forbidden(target.kind, textAt(object, "metadata", "name"), why)
    }
    const secrets = arrayAt(account, "imagePullSecrets")
    if (arrayAt(spec, "imagePullSecrets").length === 0 && secrets.length > 0) {
      spec["imagePullSecrets"] = get(account, "imagePullSecrets") ?? []
    }
  }
}
