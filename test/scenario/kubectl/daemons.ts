/** A DaemonSet from a user's view: a pod on each selected node, rolled out, back and again, and removed from a node that it does not tolerate. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Kubectl from "../../clients/kubectl.ts"
import { eventually, shows, type Scenario } from "./harness.ts"

const daemon = {
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "agent" },
  spec: {
    selector: { matchLabels: { app: "agent" } },
    template: {
      metadata: { labels: { app: "agent" } },
      spec: {
        nodeSelector: { daemons: "yes" },
        tolerations: [{ key: "old", operator: "Exists" }],
        terminationGracePeriodSeconds: 0,
        containers: [{ name: "agent", image: "example.test/agent:1" }]
      }
    }
  }
}

const revisionsIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^(\d+) /gm)].map(([, number = ""]) => number)

export const daemons: Scenario = Effect.fnUntraced(function* (kubectl) {
  const { ok, run, send } = kubectl
  const image = "jsonpath={.spec.template.spec.containers[0].image}"
  const rolledOut = Effect.gen(function* () {
    assert.match(yield* ok("rollout status ds/agent --timeout=120s"), /successfully rolled out/)
  })
  const row = Effect.map(ok("get ds agent"), (text) => Kubectl.table(text)[0])
  /** Waits until the status counts this many pods, and as many ready. */
  const counts = Effect.fnUntraced(function* (count: number) {
    yield* ok(`wait ds/agent --for=jsonpath={.status.desiredNumberScheduled}=${count} --timeout=120s`)
    yield* ok(`wait ds/agent --for=jsonpath={.status.numberReady}=${count} --timeout=120s`)
    assert.include(yield* row, { DESIRED: `${count}`, CURRENT: `${count}`, READY: `${count}` })
  })
  const nodes = (yield* ok("get nodes -o name")).trim().split("\n").slice(-2)
  yield* ok(`label ${nodes.join(" ")} daemons=yes`)

  yield* send("create", daemon)
  yield* rolledOut
  yield* counts(2)
  const on = yield* ok("get pods -l app=agent -o jsonpath={.items[*].spec.nodeName}")
  assert.sameMembers(
    on.split(" "),
    nodes.map((name) => name.replace("node/", ""))
  )
  yield* ok("set image ds/agent agent=example.test/agent:2")
  yield* rolledOut
  assert.deepStrictEqual(revisionsIn(yield* ok("rollout history ds/agent")), ["1", "2"])
  assert.match(yield* ok("rollout history ds/agent --revision=1"), /Image:\s+example\.test\/agent:1\n/)
  assert.strictEqual(yield* ok("rollout undo ds/agent"), "daemonset.apps/agent rolled back\n")
  yield* rolledOut
  assert.strictEqual(yield* ok(`get ds agent -o ${image}`), "example.test/agent:1")
  assert.deepStrictEqual(revisionsIn(yield* ok("rollout history ds/agent")), ["2", "3"])
  assert.match((yield* run("rollout undo ds/agent --to-revision=7")).stderr, /unable to find specified revision 7/)
  yield* ok("rollout restart ds/agent")
  yield* rolledOut
  assert.deepStrictEqual(revisionsIn(yield* ok("rollout history ds/agent")), ["2", "3", "4"])
  const hashes = yield* ok("get pods -l app=agent -o jsonpath={.items[*].metadata.labels.controller-revision-hash}")
  assert.strictEqual(new Set(hashes.split(" ")).size, 1)

  const first = (nodes[0] ?? "").replace("/", " ")
  yield* ok(`taint ${first} broken=yes:NoExecute`)
  yield* counts(1)
  yield* ok(`taint ${first} broken-`)
  yield* counts(2)
  // A tolerated taint changes nothing.
  yield* ok(`taint ${first} old=yes:NoExecute`)
  yield* ok(`label ${first} daemons-`)
  yield* counts(1)
  yield* ok(`label ${first} daemons=yes`)
  yield* counts(2)
  yield* ok(`taint ${first} old-`)
  yield* shows(
    kubectl,
    "describe ds agent",
    /Desired Number of Nodes Scheduled: 2\n/,
    /Pods Status: +2 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed\n/,
    /Normal +SuccessfulCreate +\S+ +daemonset-controller +Created pod: agent-/,
    /Normal +SuccessfulDelete +\S+ +daemonset-controller +Deleted pod: agent-/
  )

  // A new DaemonSet of the same name takes over the pods and the history.
  const names = () => ok("get pods -l app=agent -o jsonpath={.items[*].metadata.uid}")
  const before = yield* names()
  yield* ok("delete ds agent --cascade=orphan")
  const template = JSON.parse(JSON.stringify(daemon)) as typeof daemon
  yield* send("create", { ...template, spec: { ...template.spec, updateStrategy: { type: "OnDelete" } } })
  yield* counts(2)
  assert.sameMembers((yield* names()).split(" "), before.split(" "))
  yield* ok("delete ds agent")
  yield* ok("wait pods -l app=agent --for=delete --timeout=120s")
  yield* eventually(
    "the revisions are deleted",
    Effect.map(ok("get controllerrevisions -o name"), (names) => names === "")
  )
  yield* ok(`label ${nodes.join(" ")} daemons-`)
})
