/** A token that does not expire, which a user requests with a Secret. It is accepted until its Secret or its account is deleted. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Process from "../../support/process.ts"
import type { Scenario } from "./harness.ts"

const secret = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  type: "kubernetes.io/service-account-token",
  metadata: { name, annotations: { "kubernetes.io/service-account.name": "robot" } }
})

export const tokens: Scenario = Effect.fnUntraced(function* ({ namespace, ok, run, send }) {
  const decoded = (name: string, key: string) =>
    Effect.map(ok(["get", "secret", name, "-o", `jsonpath={.data.${key.replace(".", "\\.")}}`]), (text) =>
      Buffer.from(text, "base64").toString("utf8")
    )
  const url = yield* ok("config view --minify -o jsonpath={.clusters[0].cluster.server}")
  yield* ok("create serviceaccount robot")
  yield* ok("create role reader --verb=list --resource=serviceaccounts")
  yield* ok(`create rolebinding robot --role=reader --serviceaccount=${namespace}:robot`)
  for (const name of ["first", "second"]) {
    assert.strictEqual(yield* send("apply", secret(name)), `secret/${name} created\n`)
    yield* ok(`wait secret/${name} --for=jsonpath={.data.token} --timeout=120s`)
  }
  assert.strictEqual(yield* decoded("first", "namespace"), namespace)
  const authority = join(yield* Process.folder, "ca.crt")
  const content = yield* decoded("first", "ca.crt")
  yield* Effect.promise(() => writeFile(authority, content))
  /** A command with the token and no other credentials. */
  const as = (token: string, line: string) =>
    run(`--server=${url} --certificate-authority=${authority} --token=${token} ${line}`, {
      env: { KUBECONFIG: "/nowhere" }
    })
  const [first, second] = [yield* decoded("first", "token"), yield* decoded("second", "token")]
  assert.notStrictEqual(first, second)
  for (const token of [first, second]) {
    const { code, stderr, stdout } = yield* as(token, "get serviceaccounts -o name")
    assert.strictEqual(code, 0, stderr)
    assert.include(stdout, "serviceaccount/robot\n")
  }
  /** Waits until it is no longer accepted: the server may cache it for some seconds. */
  const refused = (token: string) =>
    Effect.gen(function* () {
      while (!/Unauthorized|must be logged in/.test((yield* as(token, "get serviceaccounts")).stderr)) {
        yield* Effect.sleep(200)
      }
    }).pipe(Effect.timeout("2 minutes"))
  // A second apply changes nothing.
  assert.strictEqual(yield* send("apply", secret("second")), "secret/second unchanged\n")
  assert.strictEqual(yield* decoded("second", "token"), second)
  yield* ok("delete secret first")
  yield* refused(first)
  assert.strictEqual((yield* as(second, "get serviceaccounts")).code, 0)
  yield* ok("delete serviceaccount robot")
  yield* ok("wait secret/second --for=delete --timeout=120s")
  yield* refused(second)

  // The ConfigMap with the authorities is restored.
  const published = yield* ok("get configmap kube-root-ca.crt -o jsonpath={.data}")
  yield* ok("delete configmap kube-root-ca.crt")
  yield* ok("wait configmap/kube-root-ca.crt --for=create --timeout=120s")
  assert.strictEqual(yield* ok("get configmap kube-root-ca.crt -o jsonpath={.data}"), published)
  assert.strictEqual(JSON.parse(published)["ca.crt"], content)
})
