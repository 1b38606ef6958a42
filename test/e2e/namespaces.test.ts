/** The cases for namespaces and their initial objects from Kubernetes' end-to-end suite: test/e2e/apimachinery/namespace.go, test/e2e/auth/service_accounts.go. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ConfigMap, Namespace, Pod, Secret, Service, ServiceAccount } from "../../src/kube/resources.ts"
import { ClusterTest } from "../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as Harness from "./harness.ts"

/** A new namespace with its default account and its ConfigMap of authorities. */
const made = (name: string) =>
  Effect.andThen(
    Harness.create(Namespace, { metadata: { name } }),
    Harness.until(
      Effect.all([Harness.get(ServiceAccount, "default", name), Harness.get(ConfigMap, "kube-root-ca.crt", name)])
    )
  )

Harness.scenario(
  "a deleted namespace takes its pods and Services with it, and is empty when it is created again",
  Effect.gen(function* () {
    yield* made("nsdeletetest")
    const spec = { ...Harness.spec(), terminationGracePeriodSeconds: 30 }
    yield* Harness.create(Pod, { metadata: { name: "test-pod" }, spec }, "nsdeletetest")
    const service = { metadata: { name: "test-service" }, spec: { selector: { foo: "bar" }, ports: [{ port: 80 }] } }
    yield* Harness.create(Service, service, "nsdeletetest")
    yield* Harness.until(
      Effect.map(Harness.get(Pod, "test-pod", "nsdeletetest"), (pod) =>
        assert.strictEqual(pod.status?.phase, "Running")
      )
    )
    yield* Harness.remove(Namespace, "nsdeletetest")
    yield* Harness.gone(Namespace, "nsdeletetest", "90 seconds")
    yield* made("nsdeletetest")
    assert.isTrue(yield* Harness.isGone(Pod, "test-pod", "nsdeletetest"))
    assert.isTrue(yield* Harness.isGone(Service, "test-service", "nsdeletetest"))
  })
)

Harness.scenario(
  "a hundred namespaces are deleted within a hundred and fifty seconds",
  Effect.gen(function* () {
    const names = Array.from({ length: 100 }, (_, index) => `nslifetest-${index}`)
    for (const name of names) yield* Harness.create(Namespace, { metadata: { name } })
    yield* Harness.advance("10 seconds")
    for (const name of names) yield* Harness.remove(Namespace, name)
    yield* Harness.until(
      Effect.map(Harness.list(Namespace), (all) =>
        assert.isEmpty(all.filter(({ metadata }) => metadata.name.startsWith("nslifetest-")))
      ),
      "150 seconds"
    )
  })
)

Harness.scenario(
  "a deleted namespace waits for the finalizer of another client",
  Effect.gen(function* () {
    yield* made("held")
    const client = yield* KubeClient
    const finalize = (change: (finalizers: ReadonlyArray<string>) => ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const found = yield* Harness.get(Namespace, "held")
        const finalizers = change(found.spec?.finalizers ?? [])
        const body = { ...found, spec: { ...found.spec, finalizers } }
        const path = "/api/v1/namespaces/held/finalize"
        yield* client.raw({ method: "PUT", path, body, context: { verb: "update", path } })
      })
    yield* finalize((all) => [...all, "e2e.example.com/fakeFinalizer"])
    yield* Harness.remove(Namespace, "held")
    yield* Harness.until(
      Effect.map(Harness.get(Namespace, "held"), ({ spec }) =>
        assert.deepStrictEqual(spec?.finalizers, ["e2e.example.com/fakeFinalizer"])
      )
    )
    yield* finalize(() => [])
    yield* Harness.gone(Namespace, "held")
  })
)

Harness.scenario(
  "the ConfigMap of authorities is created again, and its content restored",
  Effect.gen(function* () {
    yield* made("mine")
    const cluster = yield* ClusterTest
    const client = yield* KubeClient
    const target = { namespace: "mine", name: "kube-root-ca.crt" }
    const { data } = yield* client.get(ConfigMap, target)
    yield* client.delete(ConfigMap, target)
    yield* cluster.settle
    const again = yield* Harness.until(client.get(ConfigMap, target))
    assert.deepStrictEqual(again.data, data)
    yield* client.update(ConfigMap, { ...again, data: { "ca.crt": "" } })
    yield* Harness.until(Effect.map(client.get(ConfigMap, target), (found) => assert.deepStrictEqual(found.data, data)))
  })
)

Harness.scenario(
  "the default account has no Secret; a Secret that names the account gets a token",
  Effect.gen(function* () {
    yield* made("mine")
    yield* Harness.advance("1 minute")
    assert.isUndefined((yield* Harness.get(ServiceAccount, "default", "mine")).secrets)
    assert.isTrue(yield* Harness.isGone(Secret, "token", "mine"))
    const annotations = { "kubernetes.io/service-account.name": "default" }
    const type = "kubernetes.io/service-account-token"
    yield* Harness.create(Secret, { type, metadata: { name: "token", annotations } }, "mine")
    const { data } = yield* Harness.until(
      Effect.tap(Harness.get(Secret, "token", "mine"), (found) =>
        Effect.sync(() => assert.property(found.data, "token"))
      )
    )
    assert.hasAllKeys(data, ["ca.crt", "namespace", "token"])
  })
)
