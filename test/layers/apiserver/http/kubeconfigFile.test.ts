import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { parse } from "yaml"
import * as Kubeconfig from "../../../../src/layers/apiserver/http/kubeconfigFile.ts"

const access: Kubeconfig.Access = {
  server: "https://127.0.0.1:1",
  ca: "-----BEGIN CERTIFICATE-----\n",
  token: Redacted.make("secret")
}

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "kubeconfig-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

it.live("writes a file for its owner only, and removes it with its directory", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const path = yield* Kubeconfig.write(access).pipe(Scope.provide(scope))
    assert.deepStrictEqual([mode(path), mode(dirname(path))], ["600", "700"])
    assert.deepStrictEqual(readdirSync(dirname(path)), ["kubeconfig"])
    const config = parse(readFileSync(path, "utf8"))
    assert.strictEqual(config["current-context"], "embedded")
    assert.strictEqual(config.users[0].user.token, "secret")
    const { "certificate-authority-data": ca, server } = config.clusters[0].cluster
    assert.deepStrictEqual([server, Buffer.from(ca, "base64").toString()], [access.server, access.ca])
    yield* Scope.close(scope, Exit.void)
    assert.isFalse(existsSync(dirname(path)))
  })
)

it.live("replaces an old file in a directory that is given, and leaves one that was replaced meanwhile", () =>
  Effect.gen(function* () {
    const directory = join(yield* temporary, "deep", "own")
    const scope = yield* Scope.make()
    const path = yield* Kubeconfig.write(access, directory).pipe(Scope.provide(scope))
    assert.deepStrictEqual([mode(directory), mode(path)], ["700", "600"])
    const second = yield* Scope.make()
    yield* Kubeconfig.write({ ...access, server: "https://127.0.0.1:2" }, directory).pipe(Scope.provide(second))
    yield* Scope.close(scope, Exit.void)
    assert.include(readFileSync(path, "utf8"), "127.0.0.1:2")
    yield* Scope.close(second, Exit.void)
    assert.deepStrictEqual(readdirSync(directory), [])
  })
)

it.live("says in one sentence why it cannot write", () =>
  Effect.gen(function* () {
    const file = join(yield* temporary, "file")
    writeFileSync(file, "")
    const error = yield* Effect.flip(Kubeconfig.write(access, join(file, "below")))
    assert.strictEqual(error._tag, "KubeconfigError")
    assert.match(error.message, /^cannot create a directory for the kubeconfig: .*ENOTDIR/)
  })
)
