/** Scenarios of the program itself: leader election, protected metrics, accounts of controllers, and webhook certificates. */
import { assert } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ConfigMap, Event, Lease, Secret } from "../../src/kube/resources.ts"
import { ApiServer } from "../../src/apiserver/ApiServer.ts"
import { Endpoint } from "../../src/layers/Endpoint.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import { Leadership } from "../../src/layers/Leadership.ts"
import { Certificates } from "../../src/layers/http/Certificates.ts"
import { noBody, text } from "../../src/layers/http/handler.ts"
import * as Accounts from "../../src/manager/identity/accounts.ts"
import type { Manifest } from "../../src/manager/manifests/Installation.ts"
import { rolesOf } from "../../src/manager/manifests/roles.ts"
import * as Guard from "../../src/manager/metrics/guard.ts"
import * as Permissions from "../../src/manager/permissions.ts"
import * as CertificateManager from "../../src/manager/webhooks/certificates/CertificateManager.ts"
import * as CertificateBundle from "../../src/manager/webhooks/certificates/CertificateBundle.ts"
import * as Publication from "../../src/manager/webhooks/certificates/publication.ts"
import { configurations } from "../../src/manager/webhooks/configurations.ts"
import { certificates } from "../../src/platform/listener/certificates.ts"
import { Recorder } from "../../src/layers/Recorder.ts"
import * as Webhook from "../../src/layers/Webhook.ts"
import * as Election from "../../src/leader/Election.ts"
import { askAs, master, rbac } from "../apiserver/users.ts"
import type { Scenario } from "./scenario.ts"

const account = { namespace: "kube-system", name: "program" }

const user = {
  name: `system:serviceaccount:${account.namespace}:${account.name}`,
  groups: ["system:serviceaccounts", "system:authenticated"]
}

/** The roles that are printed for the program. */
const rolesFor = (wanted: Partial<Permissions.Wanted>): ReadonlyArray<Manifest> =>
  rolesOf(account.name, { ...account, permissions: Permissions.needed({ controllers: [], leases: [], ...wanted }) }, {})

const write = ({ kind, metadata, ...rest }: Manifest) => {
  const place = metadata.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`
  return Effect.map(
    askAs(master, "POST", `${rbac}${place}/${kind.toLowerCase()}s`, { kind, metadata, ...rest }),
    ({ body, status }) => assert.strictEqual(status, 201, JSON.stringify(body))
  )
}

/** A scenario whose body uses the program's client. */
const make = (
  title: string,
  wanted: Partial<Permissions.Wanted>,
  body: Effect.Effect<void, unknown, ApiServer | KubeClient | Scope.Scope>
): Scenario => ({
  title,
  run: ({ onEntry, roles }) =>
    Effect.forEach(roles(rolesFor(wanted)), write, { discard: true }).pipe(
      Effect.andThen(Effect.provide(body, Layer.provide(KubeClient.layerWith({}), ApiServer.layerTransportAs(user)))),
      Effect.provide(ApiServer.layer({ authorization: "RBAC", audit: { onEntry } }))
    )
})

const lease = { namespace: "kube-system", name: "demo" }

const leading = make(
  "a lease is acquired, renewed, released, and acquired by the other candidate",
  { leases: [lease] },
  Effect.gen(function* () {
    const elector = (identity: string) =>
      Effect.map(
        Layer.build(Layer.fresh(Layer.provideMerge(Election.layer({ ...lease, identity }), Recorder.layer))),
        (context) => ({ leadership: Context.get(context, Leadership), events: Context.get(context, Recorder) })
      )
    const [a, b] = [yield* elector("a"), yield* elector("b")]
    /** Campaigns for leadership, and returns an effect that waits for the term and ends it. */
    const campaign = Effect.fnUntraced(function* ({ leadership }: typeof a) {
      const term = yield* Scope.make()
      const waiting = yield* Effect.forkScoped(Scope.provide(leadership.acquire, term))
      yield* TestClock.adjust("1 minute")
      return Effect.andThen(Fiber.join(waiting), Scope.close(term, Exit.void))
    })
    let end = yield* campaign(a)
    for (const next of [b, a]) {
      const ended = yield* campaign(next)
      yield* end
      yield* TestClock.adjust("1 minute")
      end = ended
    }
    yield* end
    const server = yield* ApiServer
    const [found] = yield* server.snapshot(Lease)
    assert.isDefined(found)
    yield* a.events.drained
    const counts = (yield* server.snapshot(Event)).map((event) => Number(event["count"]))
    assert.isAbove(Math.max(...counts), 1)
  })
)

/** A token of a new account. */
const tokenOf = Effect.fnUntraced(function* (name: string) {
  const accounts = "/api/v1/namespaces/default/serviceaccounts"
  yield* askAs(master, "POST", accounts, { metadata: { name } })
  const { body } = yield* askAs(master, "POST", `${accounts}/${name}/token`, { spec: {} })
  return Redacted.make(String(body.status.token))
})

const protectedMetrics = make(
  "metrics are served to accounts with the permission only",
  { secureMetrics: true },
  Effect.gen(function* () {
    const collector = yield* tokenOf("collector")
    const other = yield* tokenOf("somebody")
    const name = "reader"
    const rules = [{ nonResourceURLs: ["/metrics"], verbs: ["get"] }]
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name }
    const subjects = [{ kind: "ServiceAccount", namespace: "default", name: "collector" }]
    yield* askAs(master, "POST", `${rbac}/clusterroles`, { metadata: { name }, rules })
    yield* askAs(master, "POST", `${rbac}/clusterrolebindings`, { metadata: { name }, roleRef, subjects })
    const handle = (yield* Guard.make)(() => Effect.succeed(text(200, "metrics")))
    const ask = (bearer: Redacted.Redacted) =>
      Effect.map(
        handle({ method: "GET", path: "/metrics", query: new URLSearchParams(), body: noBody, bearer }),
        ({ status }) => status
      )
    assert.deepStrictEqual([yield* ask(collector), yield* ask(other)], [200, 403])
  })
)

/** The endpoint that an HTTP transport uses. */
const base = Endpoint.fixed({ server: "https://inside", tls: {}, token: Redacted.make("program") })

const ownAccounts = make(
  "a controller uses an account of its own, which is created if it is missing",
  { controllers: [{ who: "replicaset", access: [], account: "replicaset-controller" }] },
  Effect.gen(function* () {
    const endpoint = yield* Accounts.endpoint(base, yield* KubeClient, "replicaset-controller")
    const { headers } = yield* endpoint.identity
    assert.isDefined(headers)
    const bearer = String(Redacted.value(headers)["authorization"]).replace("Bearer ", "")
    const holder = yield* (yield* ApiServer).authenticate(bearer)
    assert.strictEqual(holder?.name, "system:serviceaccount:kube-system:replicaset-controller")
  })
)

const certificateOptions = { namespace: "kube-system", name: "program-webhook-cert", hosts: ["localhost"] }

const hooks = Publication.targets(
  configurations([Webhook.defaulting(ConfigMap, Effect.succeed), Webhook.validating(ConfigMap)], {
    name: "program",
    at: { url: "https://localhost:9443" }
  }),
  true
)

const webhookCertificates = make(
  "the webhooks' certificate is created and renewed, and its CA bundle is published",
  { certificates: { secret: certificateOptions, configurations: hooks } },
  Effect.gen(function* () {
    const server = yield* ApiServer
    for (const { resource, wanted } of hooks) {
      yield* askAs(master, "POST", `/apis/admissionregistration.k8s.io/v1/${resource.plural}`, wanted ?? {})
    }
    const first = yield* CertificateManager.open(certificateOptions)
    // With another host, which is a reason to renew the certificate too.
    yield* Effect.forkScoped(
      CertificateManager.keep({ ...certificateOptions, hosts: ["localhost", "other.svc"] }, hooks)
    )
    /** Certificates are created in real time, so this waits in both. */
    for (let times = 0; times < 1000; times++) {
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      const [secret] = yield* server.snapshot(Secret)
      const all = yield* Effect.forEach(hooks, ({ resource }) => server.snapshot(resource))
      const isPublished = all.flat().every((one) => JSON.stringify(one).includes(Base64.encode(first.caBundle)))
      const found = Result.getOrUndefined(yield* CertificateBundle.read((secret as Secret | undefined)?.data))
      if (isPublished && found?.state.serving.names.includes("other.svc") === true) return
    }
    assert.fail("the renewed certificate was not published")
  }).pipe(Effect.provideService(Certificates, certificates))
)

export const scenarios: ReadonlyArray<Scenario> = [leading, protectedMetrics, ownAccounts, webhookCertificates]
