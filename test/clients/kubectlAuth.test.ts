/** kubectl's commands about rights, on a server with RBAC: `auth can-i`, `auth whoami`, and what is refused to which user. */
import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "./kubectl.ts"
import { Fixture } from "./fixture.ts"

if (!Kubectl.isInstalled) console.log(Kubectl.reason)

/** A role to read pods in the namespace of the test, and the user it is bound to. */
const readers = Effect.fnUntraced(function* (name: string) {
  const kubectl = yield* Kubectl.make(name)
  yield* kubectl.ok("create role reader --verb=get,list --resource=pods,pods/status")
  yield* kubectl.ok(`create rolebinding reader --role=reader --user=bob-${name} --serviceaccount=${name}:robot`)
  yield* kubectl.ok("create serviceaccount robot")
  const robot = `system:serviceaccount:${name}:robot`
  const can = (line: string) =>
    Effect.map(kubectl.run(`auth can-i ${line}`), ({ code, stdout }) => [stdout.trim().split("\n")[0], code])
  return { kubectl, bob: `bob-${name}`, robot, can }
})

describe.skipIf(!Kubectl.isInstalled)("kubectl auth", () => {
  layer(Fixture.layerOf({ authorization: "RBAC" }), { excludeTestServices: true, concurrent: true })((it) => {
    it.effect("can-i answers yes and no, for oneself and for others", () =>
      Effect.gen(function* () {
        const { bob, can, robot } = yield* readers("cani")
        assert.deepStrictEqual(yield* can("delete nodes"), ["yes", 0])
        assert.deepStrictEqual(yield* can("* *"), ["yes", 0])
        for (const user of [bob, robot]) {
          assert.deepStrictEqual(yield* can(`list pods --as=${user}`), ["yes", 0])
          assert.deepStrictEqual(yield* can(`get pods --subresource=status --as=${user}`), ["yes", 0])
          assert.deepStrictEqual(yield* can(`delete pods --as=${user}`), ["no", 1])
          assert.deepStrictEqual(yield* can(`list pods -A --as=${user}`), ["no", 1])
          assert.deepStrictEqual(yield* can(`get /healthz --as=${user}`), ["yes", 0])
          assert.deepStrictEqual(yield* can(`get /metrics --as=${user}`), ["no", 1])
        }
      })
    )

    it.effect("can-i --list prints all rules", () =>
      Effect.gen(function* () {
        const { kubectl, robot } = yield* readers("canlist")
        const rows = Kubectl.table(yield* kubectl.ok(`auth can-i --list --as=${robot}`))
        const verbs = (resource: string) => rows.find((row) => row["Resources"] === resource)?.["Verbs"]
        assert.deepStrictEqual([verbs("pods"), verbs("pods/status")], ["[get list]", "[get list]"])
        assert.strictEqual(verbs("selfsubjectaccessreviews.authorization.k8s.io"), "[create]")
        assert.isDefined(rows.find((row) => row["Non-Resource URLs"] === "[/healthz]"))
        const own = Kubectl.table(yield* kubectl.ok("auth can-i --list"))
        assert.strictEqual(own.find((row) => row["Resources"] === "*.*")?.["Verbs"], "[*]")
      })
    )

    it.effect(
      "a token that kubectl creates is that of the account, and refusals are printed as with other servers",
      () =>
        Effect.gen(function* () {
          const { kubectl, robot } = yield* readers("cantoken")
          const token = (yield* kubectl.ok("create token robot")).trim()
          const { server } = yield* Fixture
          const alone = `--server=${server} --insecure-skip-tls-verify --token=${token}`
          const as = (line: string) => kubectl.run(`${line} ${alone}`, { env: { KUBECONFIG: "/dev/null" } })
          const who = yield* as("auth whoami -o json")
          assert.strictEqual(JSON.parse(who.stdout).status.userInfo.username, robot, who.stderr)
          assert.strictEqual((yield* as("get pods")).code, 0)
          const refused = yield* as("get secrets")
          assert.strictEqual(refused.code, 1)
          assert.strictEqual(
            refused.stderr,
            `Error from server (Forbidden): secrets is forbidden: User "${robot}" cannot list resource "secrets" in API group "" in the namespace "cantoken"\n`
          )
        })
    )

    it.effect("auth reconcile creates roles", () =>
      Effect.gen(function* () {
        const { kubectl } = yield* readers("canrec")
        const role = {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "Role",
          metadata: { name: "made", namespace: "canrec" },
          rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]
        }
        const text = yield* kubectl.ok("auth reconcile -f -", { input: JSON.stringify(role) })
        assert.match(text, /role\.rbac\.authorization\.k8s\.io\/made/)
        assert.deepStrictEqual((yield* kubectl.json("role made"))["rules"], role.rules)
      })
    )
  })
})
