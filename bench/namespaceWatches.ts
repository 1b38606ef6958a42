/** A program that caches the config maps of some namespaces, for `watches.ts`. It prints its memory as a line of JSON. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ConfigMap } from "../src/kube/resources.ts"
import { Cache } from "../src/layers/Cache.ts"
import { Endpoint } from "../src/layers/Endpoint.ts"
import { KubeClient } from "../src/layers/KubeClient.ts"
import * as HttpTransport from "../src/platform/HttpTransport.ts"
import type { Server } from "./server.ts"

/** The arguments: one JSON object. */
export interface Options extends Pick<Server, "port" | "ca" | "token"> {
  readonly namespaces: ReadonlyArray<string>
}

/** Bytes. */
export interface Memory {
  readonly resident: number
  readonly heap: number
}

const { ca, namespaces, port, token } = JSON.parse(process.argv[2] ?? "{}") as Options

const main = Effect.gen(function* () {
  const cache = yield* Cache
  yield* cache.subscribe(ConfigMap)
  yield* cache.synced(ConfigMap)
  yield* Effect.sleep("2 seconds")
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  console.log(JSON.stringify({ resident: rss, heap: heapUsed } satisfies Memory))
})

const endpoint = Endpoint.fixed({ server: `https://127.0.0.1:${port}`, tls: { ca }, token: Redacted.make(token) })
const layer = Cache.layer({ namespaces }).pipe(
  Layer.provide(KubeClient.layer),
  Layer.provide(HttpTransport.layer),
  Layer.provide(Layer.succeed(Endpoint, endpoint))
)

await Effect.runPromise(Effect.scoped(Effect.provide(main, layer)))
process.exit(0)
