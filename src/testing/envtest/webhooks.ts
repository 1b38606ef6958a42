/**
 * Serves the webhooks of a test over HTTPS and registers them with the API server, as the program does with a certificate of its own. An API server reads
 * configurations by a watch, so it calls a new webhook only after a while: each configuration has one more webhook, for ConfigMaps with a label of their own,
 * and the server is asked to create such a ConfigMap, as a dry run, until it calls that webhook.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { ConfigMap } from "../../kube/resources.ts"
import type { Services } from "../../layers/Controller.ts"
import type { Handler } from "../../layers/http/handler.ts"
import { KubeClient } from "../../layers/KubeClient.ts"
import type { Webhook } from "../../layers/Webhook.ts"
import { clientConfig, type Configuration, configurations } from "../../manager/webhooks/configurations.ts"
import { bodyLimit, handler } from "../../manager/webhooks/handle.ts"
import { certificates } from "../../platform/listener/certificates.ts"
import { listener } from "../../platform/listener/Listener.ts"
import { NotReached } from "../TestCluster.ts"
import { register } from "../webhooks.ts"

const host = "127.0.0.1"

const day = 86_400_000

/** The label of the ConfigMaps, and the prefix of the paths, by which the server shows that it calls the webhooks. */
const probe = "envtest-webhooks"

/** Serves them for as long as the scope is open, and returns when the API server calls them. */
export const serve = Effect.fnUntraced(function* <E, R>(
  webhooks: ReadonlyArray<Webhook<Services>>,
  apply: (objects: ReadonlyArray<object>) => Effect.Effect<unknown, E, R>
) {
  const now = yield* Clock.currentTimeMillis
  const validity = { notBefore: now - day, notAfter: now + 365 * day }
  const ca = yield* certificates.authority({ name: "envtest-webhooks", ...validity })
  const certificate = yield* certificates.sign(ca, { name: "webhooks", hosts: [host], ...validity })
  // A test that declares a webhook that cannot be served has a bug, and fails with a defect.
  const handle = yield* Effect.orDie(handler(webhooks))
  const called = new Set<string>()
  const observing: Handler = (request) => {
    if (request.path.startsWith(`/${probe}/`)) called.add(request.path)
    return handle(request)
  }
  const { port } = yield* listener.listen({
    name: "webhooks",
    setting: "webhooks",
    address: { host, port: 0 },
    certificate,
    methods: ["POST"],
    bodyLimit,
    handle: observing
  })
  const reached = { at: { url: `https://${host}:${port}` }, ca: ca.cert }
  const all = configurations(webhooks, { name: "webhooks", ...reached })
  const expected: Array<string> = []
  const probed = (configuration: Configuration | undefined): Configuration | undefined => {
    if (configuration === undefined) return undefined
    const path = `/${probe}/${configuration.kind}`
    expected.push(path)
    const entry = {
      name: `${probe}.ecm.test`,
      admissionReviewVersions: ["v1", "v1beta1"],
      clientConfig: clientConfig(reached, path),
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      objectSelector: { matchLabels: { [probe]: "true" } },
      // The handler has no such path.
      failurePolicy: "Ignore",
      sideEffects: "None",
      timeoutSeconds: 5
    }
    return { ...configuration, webhooks: [...configuration.webhooks, entry] }
  }
  yield* register({ ...all, mutating: probed(all.mutating), validating: probed(all.validating) }, apply)
  yield* areCalled(() => expected.every((path) => called.has(path)))
})

const within = "30 seconds"

const areCalled = Effect.fnUntraced(function* (isDone: () => boolean) {
  const client = yield* KubeClient
  const target = { namespace: "default", name: probe }
  const draft = { metadata: { ...target, labels: { [probe]: "true" } } }
  yield* client.create(ConfigMap, draft, { dryRun: true }).pipe(
    Effect.repeat({ until: isDone, schedule: Schedule.spaced("50 millis") }),
    Effect.timeoutOrElse({
      duration: within,
      orElse: () => Effect.fail(new NotReached({ resource: ConfigMap, target, within, object: undefined }))
    })
  )
})
