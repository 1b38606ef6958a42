/**
 * Who may read a console that is not on loopback: the program as a process, a real kube-apiserver that reviews the tokens, and Chromium. Needs
 * `KUBEBUILDER_ASSETS`, and for the form Debian's chromium.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request } from "node:https"
import { ServiceAccount } from "../../src/kube/resources.ts"
import { chromiumPath, launch } from "../manager/console/page/fakeConsole.ts"
import * as envtest from "../support/envtest.ts"
import * as Process from "../support/process.ts"
import * as Cluster from "./cluster.ts"
import * as Kubeconfigs from "./kubeconfigs.ts"

const post = (client: Cluster.Client, path: string, body: object) =>
  Effect.map(client.raw({ method: "POST", path, body, context: { verb: "create", path } }), (response) => response.body)

/** A token of an account, for the audiences of the server or for others. */
const tokenOf = Effect.fnUntraced(function* (client: Cluster.Client, name: string, audiences?: ReadonlyArray<string>) {
  const spec = audiences === undefined ? {} : { audiences }
  const made = yield* post(client, `/api/v1/namespaces/default/serviceaccounts/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec
  })
  return (made as { readonly status: { readonly token: string } }).status.token
})

/** The program with a console on all interfaces, a token that may read it, and ones that may not. */
const started = Effect.gen(function* () {
  const server = yield* envtest.start()
  const { ca, token, url } = server
  const client = yield* Cluster.client({ server: url, ca, token })
  const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", metadata: { name: "console-reader" } }
  yield* post(client, "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    ...rbac,
    kind: "ClusterRole",
    rules: [{ nonResourceURLs: ["/console"], verbs: ["get"] }]
  })
  yield* post(client, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    ...rbac,
    kind: "ClusterRoleBinding",
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "console-reader" },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name: "reader" }]
  })
  for (const name of ["reader", "other"])
    yield* client.create(ServiceAccount, { metadata: { namespace: "default", name } })
  const tokens = {
    reader: yield* tokenOf(client, "reader"),
    other: yield* tokenOf(client, "other"),
    elsewhere: yield* tokenOf(client, "reader", ["elsewhere"])
  }
  const kubeconfig = yield* Kubeconfigs.write({ server: url, ca, user: { token } })
  const args = ["--controllers=serviceaccount", "--leader-elect=false", "--console-bind-address=0.0.0.0:0"]
  const running = yield* Process.start(["--kubeconfig", kubeconfig, ...args])
  const [, port = ""] = yield* running.says(/^https:\/\/\S+:(\d+)\/console\/$/m)
  return { server, running, tokens, address: `https://127.0.0.1:${port}` }
})

const ask = (address: string, token: string | undefined) =>
  Effect.promise(
    () =>
      new Promise<readonly [number | undefined, string]>((resolve, reject) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
        const options = { headers, agent: false, rejectUnauthorized: false }
        request(`${address}/console/api/search?q=default`, options, (response) => {
          let body = ""
          response.setEncoding("utf8").on("data", (part: string) => (body += part))
          response.on("end", () => resolve([response.statusCode, body]))
        })
          .on("error", reject)
          .end()
      })
  )

describe.skipIf(envtest.isMissing("the console's users"))("a console that is not on loopback", () => {
  it.live(
    "is read by users that the API server knows and lets get /console, and by no one while that does not respond",
    () =>
      Effect.gen(function* () {
        const { address, running, server, tokens } = yield* started
        const of = (token: string | undefined) => ask(address, token)
        assert.deepStrictEqual((yield* of(tokens.reader))[0], 200)
        const [forbidden, why] = yield* of(tokens.other)
        assert.deepStrictEqual(
          [forbidden, why],
          [403, `{"message":"the API server does not let the user of this token get /console"}`]
        )
        for (const token of [undefined, "wrong", tokens.elsewhere, `${tokens.reader.slice(0, -3)}AAA`]) {
          const [status, body] = yield* of(token)
          assert.strictEqual(status, 401, token)
          assert.include(body, "token")
        }
        const explain = yield* Process.run(["explain", "serviceaccount/default"], {
          CM_CONSOLE: address,
          CM_CONSOLE_TOKEN: tokens.reader
        })
        assert.strictEqual(explain.code, 1)
        assert.match(explain.stderr, /certificate.*--console-ca/)
        yield* server.kill
        assert.deepStrictEqual(yield* of("another"), [
          500,
          `{"message":"the API server could not be asked about the token"}`
        ])
        for (const token of Object.values(tokens)) assert.notInclude(running.said(), token)
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(chromiumPath === undefined)(
    "asks for a token in a form, says why it refuses one, and keeps the right one in memory",
    () =>
      Effect.gen(function* () {
        const { address, tokens } = yield* started
        const browser = yield* Effect.acquireRelease(Effect.promise(launch), (one) => Effect.promise(() => one.close()))
        yield* Effect.promise(async () => {
          const context = await browser.newContext({ ignoreHTTPSErrors: true })
          const page = await context.newPage()
          const faults: Array<string> = []
          const urls: Array<string> = []
          page.on("pageerror", (error) => faults.push(String(error)))
          page.on("request", (one) => urls.push(one.url()))
          await page.goto(`${address}/`)
          const signIn = async (token: string) => {
            await page.fill("#token", token)
            await page.keyboard.press("Enter")
          }
          await page.waitForSelector("#token")
          assert.strictEqual(await page.locator("[role=alert]").count(), 0)
          await signIn("wrong")
          await page.waitForSelector(
            "[role=alert]:has-text('the token is missing, or the API server does not accept it')"
          )
          await signIn(tokens.other)
          await page.waitForSelector("[role=alert]:has-text('does not let the user of this token get /console')")
          await signIn(tokens.reader)
          await page.waitForSelector("tbody tr:has-text('serviceaccount')")
          await page.waitForSelector("text=live")
          const kept = await page.evaluate(
            "JSON.stringify([location.href, document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.documentElement.outerHTML])"
          )
          assert.notInclude(String(kept), tokens.reader)
          assert.strictEqual(await page.evaluate("indexedDB.databases().then((all) => all.length)"), 0)
          assert.isTrue(urls.every((one) => one.startsWith(`${address}/`) && !one.includes(tokens.reader)))
          await page.reload()
          await page.waitForSelector("#token")
          assert.deepStrictEqual(faults, [])
          await context.close()
        })
      }).pipe(Effect.scoped)
  )
})
