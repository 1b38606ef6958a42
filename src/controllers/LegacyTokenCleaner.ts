/**
 * legacy-serviceaccount-token-cleaner: marks auto-generated token Secrets of service accounts as invalid after a year without use, and deletes them
 * after another year. It runs once a day. The API server publishes the date since which it tracks the use of tokens; nothing is marked before that
 * date is a year old. Source: pkg/controller/serviceaccount: LegacySATokenCleaner.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Access from "../kube/Access.ts"
import * as ApiError from "../kube/ApiError.ts"
import * as Key from "../kube/Key.ts"
import * as Patch from "../kube/Patch.ts"
import * as Resource from "../kube/Resource.ts"
import { ConfigMap, Pod, Secret, ServiceAccount } from "../kube/resources.ts"
import * as Controller from "../layers/Controller.ts"
import * as Setting from "../layers/Setting.ts"
import * as Codecs from "../layers/setting/codecs.ts"
import * as Family from "../streams/reconcile/metricFamily.ts"
import * as Plan from "./legacytokencleaner/plan.ts"
import * as Secrets from "./shared/tokens/secrets.ts"

export const settings = {
  period: Setting.make(Codecs.interval, {
    name: "legacy-service-account-token-clean-up-period",
    group: "tuning",
    description:
      "Time after which unused token Secrets are marked as invalid; they are deleted after the same time again",
    default: "8760h"
  })
}

export type Options = Setting.Options<typeof settings>

const trackingName = "kube-apiserver-legacy-service-account-token-tracking"

/** The ConfigMap in which the API server publishes the date since which it tracks the use of tokens. */
const Tracking = Resource.selected(ConfigMap, `metadata.name=${trackingName}`)

const access = [
  Access.read(Secrets.Tokens),
  Access.read(ServiceAccount),
  Access.read(Pod),
  Access.read(Tracking),
  Access.patch(Secret),
  Access.remove(Secret)
] as const

type Context = Controller.ReconcileContext<(typeof access)[number]>

export const make = (options: Options = {}) =>
  Controller.scheduled({
    name: "legacy-serviceaccount-token-cleaner",
    metrics: [cleaned],
    access,
    schedule: Schedule.spaced("24 hours"),
    run: (context) =>
      Effect.gen(function* () {
        const tracking = yield* context.cache.get(Tracking, Key.make("kube-system", trackingName))
        const plan = Plan.plan({
          now: yield* Clock.currentTimeMillis,
          periodMillis: Duration.toMillis(Setting.orDefault(options.period, settings.period)),
          since: tracking?.data?.["since"],
          secrets: yield* context.cache.list(Secrets.Tokens),
          accounts: yield* context.cache.list(ServiceAccount),
          pods: yield* context.cache.list(Pod)
        })
        if (plan._tag === "Untracked") return yield* Effect.logDebug(plan.why)
        yield* Effect.forEach(plan.actions, (action) => apply(context, action), { discard: true })
      })
  })

const apply = Effect.fnUntraced(
  function* ({ client }: Context, action: Plan.Action) {
    const { name, namespace, resourceVersion, uid } = action.secret.metadata
    const target = { namespace, name }
    // Fails with a conflict if the token was used since it was read, and with a 404 if it was deleted.
    const preconditions = { uid, resourceVersion }
    if (action._tag === "Mark") {
      const metadata = { ...preconditions, labels: { [Plan.invalidSince]: action.since } }
      yield* client.patch(Secret, target, Patch.merge({ metadata }))
    } else yield* client.delete(Secret, target, { preconditions })
    yield* cleaned.add(1, { action: action._tag === "Mark" ? "invalidated" : "deleted" })
    yield* Effect.logInfo(
      action._tag === "Mark" ? "Marked an unused token as invalid" : "Deleted a token that was marked as invalid"
    )
  },
  (effect, _, { secret }) =>
    effect.pipe(
      // The token was deleted or used: the next run decides again.
      ApiError.unlessReplaced,
      Effect.catch((error) => Effect.logWarning(`Cannot clean up a token, the next run tries again: ${error.message}`)),
      Effect.annotateLogs({ secret: Key.of(secret) })
    )
)

const cleaned = Family.counter(
  "legacy_service_account_token_cleaner_tokens_total",
  "Secrets with unused tokens, by action: invalidated, deleted",
  ["action"]
)
