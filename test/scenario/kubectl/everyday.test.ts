/**
 * kubectl's everyday commands against one process of the program and, where it is there, against a real kube-apiserver: both print the same and end
 * with the same exit code. Needs kubectl.
 */
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { everyday } from "./everyday.ts"
import * as Harness from "./harness.ts"

if (!Kubectl.isInstalled) process.stderr.write(`everyday commands ${Kubectl.reason}\n`)

const loops = ["deployment", "replicaset", "job", "garbagecollector", "namespace", "serviceaccount", "endpoint"]

describe.skipIf(!Kubectl.isInstalled).concurrent("the everyday commands of kubectl", () => {
  it.live(
    "print what they should on the embedded cluster",
    () => Effect.scoped(Effect.flatMap(Harness.embedded(), (cluster) => Harness.runAll(cluster, { everyday }))),
    300_000
  )

  it.live.skipIf(Harness.missing !== undefined)(
    "print the same on a real API server",
    () => Effect.scoped(Effect.flatMap(Harness.real(loops), (cluster) => Harness.runAll(cluster, { everyday }))),
    300_000
  )
})
