/**
 * Rate limits of requests: `--kube-api-qps` and `--kube-api-burst`. There is one limit for the whole program. In kube-controller-manager mode there
 * is one for each client: each controller, the informers, discovery. Source: cmd/kube-controller-manager/app,
 * k8s.io/controller-manager/pkg/clientbuilder.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as RequestMetrics from "../platform/http/requestMetrics.ts"
import * as Transports from "./cluster/transports.ts"
import type * as Registry from "../manager/registry.ts"
import type * as Settings from "../manager/settings.ts"

/** `one`: all requests share a limit. `each`: every controller has its own. */
export const Sharing = Context.Reference<"one" | "each">("effect-controller-manager/commands/Sharing", {
  defaultValue: () => "one"
})

/** The limit of discovery, which sends many requests, seldom. Settings do not change it. Source: SimpleControllerClientBuilder.DiscoveryClient. */
const discovery: Transports.Limit = { perSecond: 20, burst: 200 }

/** The limit of one client; undefined means no limit. `times`: a multiple of the settings. */
export const ofClient = (
  { burst, qps }: Settings.Settings,
  server: string,
  times: NonNullable<Registry.Entry["clientLimits"]> = { qps: 1, burst: 1 }
): Effect.Effect<Transports.Pace | undefined> =>
  qps < 0
    ? Effect.undefined
    : paceOf(server, {
        perSecond: qps * times.qps,
        burst: (burst === 0 ? Math.max(1, 2 * qps) : burst) * times.burst
      })

/** The limit of the program's own requests: lists of informers, events, discovery. */
export const ofProgram = Effect.fnUntraced(function* (settings: Settings.Settings, server: string) {
  const lists = yield* ofClient(settings, server)
  const events = yield* ofClient(settings, server)
  if (lists === undefined || events === undefined || (yield* Sharing) === "one") return lists
  const discovering = yield* paceOf(server, discovery)
  const pace: Transports.Pace = (request) => {
    const { resource, verb } = request.context
    return (verb === "discover" ? discovering : resource?.startsWith("events") === true ? events : lists)(request)
  }
  return pace
})

const paceOf = (server: string, limit: Transports.Limit): Effect.Effect<Transports.Pace> =>
  Effect.flatMap(RequestMetrics.detail(new URL(server).host), (detail) => Transports.makePace(limit, detail?.limited))
