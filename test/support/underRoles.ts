/**
 * The switch that runs every scenario on `ClusterTest` under RBAC: `npm run test:roles`. Each controller works under an account of its own with the
 * roles that `manifests` prints for it. A scenario in which a request of one is denied fails, whatever else it checks.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Entry } from "../../src/apiserver/audit/AuditLog.ts"
import { ClusterTest, type Options } from "../../src/testing/ClusterTest.ts"
import * as Audit from "./audit.ts"

const layer = ClusterTest.layer as (options?: Options) => Layer.Layer<unknown, unknown>

const underRoles = (options: Options = {}): Layer.Layer<unknown, unknown> => {
  const refused: Array<Entry> = []
  const onEntry = (entry: Entry): void => {
    options.audit?.onEntry?.(entry)
    if (Audit.isDenied(entry)) refused.push(entry)
  }
  const audited = layer({ authorization: "RBAC", ...options, audit: { ...options.audit, onEntry } })
  const nothingDenied = Layer.effectDiscard(
    Effect.addFinalizer(() =>
      refused.length === 0
        ? Effect.void
        : Effect.die(new Error(`denied: ${[...new Set(refused.map(Audit.line))].join("; ")}`))
    )
  )
  return Layer.provideMerge(audited, nothingDenied)
}

Reflect.set(ClusterTest, "layer", underRoles)
