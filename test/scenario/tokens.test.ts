/**
 * The loop of tokens as operators start it: an unusable key ends the start, without a key the loop is off, with a key it fills Secrets. Neither the key
 * nor a token is in any output of the program, at whatever level. Source: pkg/controller/serviceaccount: TokensController.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { generateKeyPairSync } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Secret, ServiceAccount } from "../../src/kube/resources.ts"
import * as HttpTransport from "../../src/platform/HttpTransport.ts"
import { KubeClient } from "../../src/layers/KubeClient.ts"
import * as KubeConfig from "../../src/platform/KubeConfig.ts"
import { Transport } from "../../src/layers/Transport.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"

const timeout = 60_000

const loop = (kubeconfig: string, ...more: ReadonlyArray<string>) => [
  "--kubeconfig",
  kubeconfig,
  "--leader-elect=false",
  "--controllers=serviceaccount-token,root-ca-cert-publisher",
  ...more
]

const namespace = "default"

const clientOf = (path: string) =>
  Effect.gen(function* () {
    const endpoint = yield* KubeConfig.load({ mode: "kubeconfig", path, env: {} })
    const transport = Layer.succeed(Transport, yield* HttpTransport.make(endpoint))
    return Context.get(yield* Layer.build(Layer.provide(KubeClient.layer, transport)), KubeClient)
  })

describe("the loop of tokens", () => {
  it.live(
    "does not start with a key file that does not exist, and is off without one",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Cluster.apiserver
        const { code, stderr } = yield* Process.run(
          loop(kubeconfig, "--service-account-private-key-file=/nowhere/sa.key")
        )
        assert.strictEqual(code, 1)
        assert.match(
          stderr,
          /: --service-account-private-key-file cannot be used: \/nowhere\/sa\.key: there is no such file\n$/
        )
        const running = yield* Process.start(loop(kubeconfig))
        yield* running.says(
          /serviceaccount-token\\?" is disabled: there is no signing key; set --service-account-private-key-file/
        )
        yield* running.says(/Starting Controller" controller=root-ca-cert-publisher/)
      }).pipe(Effect.scoped),
    timeout
  )

  it.live(
    "fills Secrets and logs no secret, at any level",
    () =>
      Effect.gen(function* () {
        const kubeconfig = yield* Cluster.apiserver
        const folder = yield* Process.folder
        const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
        const pem = privateKey.export({ type: "pkcs8", format: "pem" })
        const path = join(folder, "sa.key")
        yield* Effect.promise(() => writeFile(path, pem))
        const running = yield* Process.start(
          loop(kubeconfig, `--service-account-private-key-file=${path}`, "--zap-log-level=8")
        )
        yield* running.says(/Starting Controller" controller=root-ca-cert-publisher/)
        const client = yield* clientOf(kubeconfig)
        yield* client.create(ServiceAccount, { metadata: { namespace, name: "robot" } })
        yield* client.create(Secret, {
          metadata: { namespace, name: "a", annotations: { "kubernetes.io/service-account.name": "robot" } },
          type: "kubernetes.io/service-account-token"
        })
        yield* running.says(/Filled a Secret with the token of its account/)
        yield* running.kill("SIGTERM")
        const { code, stderr, stdout } = yield* running.exit
        assert.strictEqual(code, 0, stderr)
        assert.notMatch(stdout + stderr, /eyJ|PRIVATE KEY/)
        for (const line of pem.split("\n").slice(1, -2)) assert.notInclude(stdout + stderr, line)
      }).pipe(Effect.scoped),
    timeout
  )
})
