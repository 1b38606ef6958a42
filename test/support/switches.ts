/**
 * A server whose kinds can be switched off and on, and which can refuse reads: the embedded one behind a handler that removes kinds from discovery,
 * responds with 404 or 403 in its place, and ends the open watches.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as ApiError from "../../src/kube/ApiError.ts"
import * as Resource from "../../src/kube/Resource.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Cache } from "../../src/layers/Cache.ts"
import type { Services } from "../../src/layers/Controller.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Quiescence } from "../../src/layers/Quiescence.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import { Supervisor } from "../../src/layers/Supervisor.ts"
import { type Request, Transport } from "../../src/layers/Transport.ts"

export type Mode = "served" | "absent" | "forbidden"

export class Switches extends Context.Service<
  Switches,
  {
    readonly set: (resource: Resource.Any, mode: Mode) => Effect.Effect<void>
    /** Method and path of all requests, in order. */
    readonly asked: ReadonlyArray<string>
  }
>()("test/Switches") {}

type Modes = ReadonlyMap<string, Mode>

const door = Layer.effectContext(
  Effect.gen(function* () {
    const { send, watch } = yield* Transport
    const modes = yield* SubscriptionRef.make<Modes>(new Map())
    const asked: Array<string> = []
    /** Undefined: the kind is served. */
    const refusal = (now: Modes, { context, path }: Request): ApiError.ApiError | undefined => {
      const collection = [...now.keys()].find((one) => path === one || path.startsWith(`${one}/`))
      const mode = collection === undefined ? "served" : now.get(collection)
      if (mode === "served") return undefined
      const code = mode === "absent" ? 404 : 403
      const message =
        code === 404 ? "the server could not find the requested resource" : `${context.resource ?? path} is forbidden`
      return ApiError.fromStatus({
        context,
        status: code,
        body: { kind: "Status", status: "Failure", code, message, reason: code === 404 ? "NotFound" : "Forbidden" }
      })
    }
    const transport = Transport.of({
      send: (request) =>
        Effect.gen(function* () {
          asked.push(`${request.method} ${request.path}`)
          const now = yield* SubscriptionRef.get(modes)
          const refused = refusal(now, request)
          if (refused !== undefined) return yield* refused
          const response = yield* send(request)
          return { ...response, body: without(now, request.path, response.body) }
        }),
      watch: (request) =>
        Stream.unwrap(
          Effect.map(SubscriptionRef.get(modes), (now) => {
            asked.push(`WATCH ${request.path}`)
            const refused = refusal(now, request)
            if (refused !== undefined) return Stream.fail(refused)
            const ended = Stream.runHead(
              Stream.filter(SubscriptionRef.changes(modes), (later) => refusal(later, request) !== undefined)
            )
            return Stream.interruptWhen(watch(request), ended)
          })
        )
    })
    const set = (resource: Resource.Any, mode: Mode) =>
      SubscriptionRef.update(modes, (now) => new Map([...now, [Resource.path(resource), mode]]))
    return Context.make(Transport, transport).pipe(Context.add(Switches, Switches.of({ set, asked })))
  })
)

/** The discovery document of a group and version without the kinds that are switched off. */
const without = (modes: Modes, path: string, body: unknown): unknown => {
  if (typeof body !== "object" || body === null || !("resources" in body) || !Array.isArray(body.resources)) return body
  const isServed = ({ name }: { readonly name: string }) => modes.get(`${path}/${name.split("/")[0]}`) !== "absent"
  return { ...body, resources: body.resources.filter(isServed) }
}

export const layer: Layer.Layer<ApiServer | Switches | Transport | Services | Quiescence> = Recorder.layer.pipe(
  Layer.provideMerge(Cache.layer()),
  Layer.provideMerge(KubeClient.layer),
  Layer.provideMerge(Layer.provide(door, ApiServer.layerTransport)),
  Layer.provideMerge(ApiServer.layer()),
  Layer.provideMerge(Supervisor.layer),
  Layer.provideMerge(Layer.succeed(Cache.Frozen, true)),
  Layer.provideMerge(Quiescence.layer)
)
