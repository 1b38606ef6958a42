/**
 * The embedded API server over HTTPS, alone in a process, which records every request that wrote something in a file. So neither the test nor a
 * replica decides what was accepted, and when. It prints its address and credentials as one line of JSON and serves until it is
 * killed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { appendFileSync } from "node:fs"
import { EmbeddedCluster } from "../../../src/apiserver/server/EmbeddedCluster.ts"
import type { Write } from "./audit.ts"

const [path = ""] = process.argv.slice(2)

const cluster = EmbeddedCluster.layer({
  audit: {
    capacity: 0,
    onEntry: ({ at, changed, name, namespace, resource, revision, user, verb }) => {
      if (!changed) return
      const write: Write = { user, verb, resource, namespace, name, revision, received: at, completed: at }
      appendFileSync(path, `${JSON.stringify(write)}\n`)
    }
  }
})

await Effect.gen(function* () {
  const { endpoint } = Context.get(yield* Layer.build(cluster), EmbeddedCluster)
  process.stdout.write(`${JSON.stringify({ ...endpoint, token: Redacted.value(endpoint.token) })}\n`)
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
