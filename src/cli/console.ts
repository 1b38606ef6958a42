/** The console, as the settings configure it: by default on loopback if the program runs on the embedded cluster, and off otherwise. */
import * as Effect from "effect/Effect"
import { readdir, readFile } from "node:fs/promises"
import { hostname } from "node:os"
import { Listener } from "../layers/http/Listener.ts"
import { Program } from "../manager/Program.ts"
import type * as Clusters from "./cluster/clusters.ts"
import { certificateFiles } from "./servers.ts"
import type { Resolved, Selection } from "./selection.ts"

/** The page that was built: beside the program's other files, also when the program runs from its sources. */
const page = new URL(import.meta.url.endsWith(".ts") ? "../../dist/console/" : "../console/", import.meta.url)

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml"
}

/** Undefined if it was not built. */
const files = Effect.tryPromise(async () => {
  const names = await readdir(page)
  return new Map(
    await Promise.all(
      names.map(async (name) => {
        const contentType = contentTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
        return [name, { body: await readFile(new URL(name, page), "utf8"), contentType }] as const
      })
    )
  )
}).pipe(Effect.orElseSucceed(() => undefined))

/** Starts the console before the controllers, and closes it after them. Returns the address to open in a browser; undefined if it is off. */
export const start = Effect.fnUntraced(function* (
  resolved: Resolved,
  { embedded, nodes, server, transport }: Clusters.Connected,
  { chosen, disabled }: Selection
) {
  const { origins, values } = resolved
  const { consoleAddress: address } = values
  const byDefault = origins.consoleAddress._tag === "Default"
  if (address === undefined || (byDefault && !embedded)) return undefined
  const { name, version } = yield* Program
  const Server = yield* Effect.promise(() => import("../manager/console/server.ts"))
  const { listener } = yield* Effect.promise(() => import("../platform/listener/Listener.ts"))
  const SecretToken = yield* Effect.promise(() => import("../platform/secretToken.ts"))
  return yield* Server.start({
    program: { name, version, server, isEmbedded: embedded },
    place: { address, isOptional: byDefault },
    token: SecretToken.make(),
    secure: { transport, files: certificateFiles(values), http2: values.http2 },
    hostname: hostname(),
    controllers: chosen.map(({ controller }) => controller),
    disabled,
    files: yield* files,
    cluster: nodes,
    timeline: undefined
  }).pipe(Effect.provideService(Listener, listener))
})
