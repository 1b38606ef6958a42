/** Evictions of pods with disruption budgets: decrements, rejections, and their messages. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { done, merge, refused, strategic } from "../assertions.ts"
import type { Case, Subject } from "../Case.ts"
import { at, podOf } from "../objects.ts"

const violates = "Cannot evict pod as it would violate the pod's disruption budget."

/** Running pods, and budgets that select them; the test writes the status that the disruption controller would write. */
const fixture = ({ ask, minor, namespace }: Subject) => {
  const { pods } = at(namespace)
  const version = minor < 22 ? "policy/v1beta1" : "policy/v1"
  const budgets = `/apis/${version}/namespaces/${namespace}/poddisruptionbudgets`
  const target = { kind: "Node", name: "n" }
  return {
    pods,
    budgets,
    run: Effect.fnUntraced(function* (name: string, ready: "True" | "False" = "True") {
      done(yield* ask("POST", pods, podOf(name, {}, { labels: { app: "a" } })))
      done(
        yield* ask("POST", `${pods}/${name}/binding`, { apiVersion: "v1", kind: "Binding", metadata: { name }, target })
      )
      const status = { phase: "Running", conditions: [{ type: "Ready", status: ready }] }
      done(yield* ask("PATCH", `${pods}/${name}/status`, { status }, merge))
    }),
    budget: Effect.fnUntraced(function* (name: string, status: object, extra: object = {}) {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "a" } }, ...extra }
      done(yield* ask("POST", budgets, { apiVersion: version, kind: "PodDisruptionBudget", metadata: { name }, spec }))
      const counted = {
        observedGeneration: 1,
        disruptionsAllowed: 0,
        currentHealthy: 1,
        desiredHealthy: 1,
        expectedPods: 1,
        ...status
      }
      done(yield* ask("PATCH", `${budgets}/${name}/status`, { status: counted }, merge))
    }),
    evict: (name: string, options?: object, query = "") =>
      ask("POST", `${pods}/${name}/eviction${query}`, {
        apiVersion: version,
        kind: "Eviction",
        metadata: { name },
        ...(options === undefined ? {} : { deleteOptions: options })
      })
  }
}

const because = (message: string) => ({ causes: [{ reason: "DisruptionBudget", message }] })

export const evictions: ReadonlyArray<Case> = [
  {
    title: "an eviction that a PodDisruptionBudget does not allow fails with 429 and a cause, without Retry-After",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { budget, evict, run } = fixture(subject)
      yield* run("a")
      yield* budget("b", {})
      const reply = yield* evict("a")
      refused(reply, {
        code: 429,
        reason: "TooManyRequests",
        message: violates,
        details: because("The disruption budget b needs 1 healthy pods and has 1 currently")
      })
      assert.isUndefined(reply.headers["retry-after"])
      assert.isUndefined(reply.body.details.retryAfterSeconds)
    })
  },
  {
    title: "an eviction fails with Retry-After 10 while the controller has not observed the budget's generation",
    since: 22,
    rule: "pods/eviction of 1.22: `createTooManyRequestsError`",
    run: Effect.fnUntraced(function* (subject) {
      const { budget, evict, run } = fixture(subject)
      yield* run("a")
      yield* budget("b", { observedGeneration: 0, disruptionsAllowed: 1 })
      const reply = yield* evict("a")
      refused(reply, {
        code: 429,
        reason: "TooManyRequests",
        message: violates,
        details: {
          ...because("The disruption budget b is still being processed by the server."),
          retryAfterSeconds: 10
        }
      })
      assert.strictEqual(reply.headers["retry-after"], "10")
    })
  },
  {
    title: "an eviction fails with two budgets for one pod, and with too many disruptedPods",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { budget, evict, run } = fixture(subject)
      yield* run("a")
      const disruptedPods = Object.fromEntries(
        Array.from({ length: 2001 }, (_, i) => [`p-${i}`, "2026-01-01T00:00:00Z"])
      )
      yield* budget("b", { disruptionsAllowed: 1, disruptedPods })
      refused(yield* evict("a"), {
        code: 403,
        reason: "Forbidden",
        message:
          'poddisruptionbudget.policy "b" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
        details: { group: "policy", kind: "poddisruptionbudget", name: "b" }
      })
      yield* budget("c", { disruptionsAllowed: 1 })
      const reply = yield* evict("a")
      // Without a reason, as in kube-apiserver.
      assert.deepStrictEqual(
        [reply.status, reply.body],
        [
          500,
          {
            kind: "Status",
            apiVersion: "v1",
            metadata: {},
            status: "Failure",
            message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            code: 500
          }
        ]
      )
    })
  },
  {
    title: "an eviction decrements disruptionsAllowed, a dry run does not",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { budget, budgets, evict, pods, run } = fixture(subject)
      yield* run("a")
      yield* budget("b", { disruptionsAllowed: 2, currentHealthy: 3 })
      done(yield* evict("a", { dryRun: ["All"] }), 201)
      done(yield* evict("a", undefined, "?dryRun=All"), 201)
      assert.isUndefined(done(yield* ask("GET", `${pods}/a`)).metadata.deletionTimestamp)
      const before = done(yield* ask("GET", `${budgets}/b`)).status
      assert.deepStrictEqual([before.disruptionsAllowed, before.disruptedPods], [2, undefined])
      done(yield* evict("a"), 201)
      const { metadata, status } = done(yield* ask("GET", `${budgets}/b`))
      assert.deepStrictEqual([status.disruptionsAllowed, Object.keys(status.disruptedPods)], [1, ["a"]])
      assert.deepStrictEqual([status.currentHealthy, metadata.generation], [3, 1])
    })
  },
  {
    title: "an eviction sets the DisruptionTarget condition of the pod, with and without a budget; a dry run does not",
    since: 31,
    rule: "pods/eviction of 1.31: `addConditionAndDeletePod`",
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { evict, pods, run } = fixture(subject)
      const held = { metadata: { finalizers: ["example.test/held"] } }
      const conditionOf = Effect.fnUntraced(function* (name: string) {
        const { status } = done(yield* ask("GET", `${pods}/${name}`))
        const conditions: ReadonlyArray<{ readonly type: string; readonly status: string }> = status.conditions ?? []
        return conditions.find(({ type }) => type === "DisruptionTarget")
      })
      for (const [name, phase] of [
        ["running", "Running"],
        ["ended", "Succeeded"],
        ["waiting", "Pending"]
      ] as const) {
        yield* run(name)
        done(yield* ask("PATCH", `${pods}/${name}`, held, merge))
        done(yield* ask("PATCH", `${pods}/${name}/status`, { status: { phase } }, merge))
        done(yield* evict(name, { dryRun: ["All"] }), 201)
        assert.isUndefined(yield* conditionOf(name))
        done(yield* evict(name), 201)
        const { reason, message, status }: any = yield* conditionOf(name)
        assert.deepStrictEqual([status, reason, message], ["True", "EvictionByEvictionAPI", "Eviction API: evicting"])
      }
    })
  },
  {
    title: "the last allowed eviction sets the budget's condition DisruptionAllowed to False",
    since: 22,
    rule: "pods/eviction of 1.22: `UpdateDisruptionAllowedCondition`",
    run: Effect.fnUntraced(function* (subject) {
      const { budget, budgets, evict, run } = fixture(subject)
      yield* run("a")
      const condition = {
        type: "DisruptionAllowed",
        status: "True",
        reason: "SufficientPods",
        message: "",
        observedGeneration: 1,
        lastTransitionTime: "2020-01-01T00:00:00Z"
      }
      yield* budget("b", { disruptionsAllowed: 1, conditions: [condition] })
      done(yield* evict("a"), 201)
      const [found] = done(yield* subject.ask("GET", `${budgets}/b`)).status.conditions
      const { lastTransitionTime, ...rest } = found
      const { lastTransitionTime: before, ...same } = condition
      assert.deepStrictEqual(rest, { ...same, status: "False", reason: "InsufficientPods" })
      assert.notStrictEqual(lastTransitionTime, before)
    })
  },
  {
    title: "the eviction of an unready pod does not decrement disruptionsAllowed while enough pods are healthy",
    since: 20,
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { budget, budgets, evict, run } = fixture(subject)
      yield* run("a", "False")
      yield* run("b", "False")
      yield* budget("b", { currentHealthy: 0 })
      refused(yield* evict("a"), { code: 429, reason: "TooManyRequests", message: violates })
      done(yield* ask("PATCH", `${budgets}/b/status`, { status: { currentHealthy: 1 } }, merge))
      done(yield* evict("a"), 201)
      const { status } = done(yield* ask("GET", `${budgets}/b`))
      assert.deepStrictEqual([status.disruptionsAllowed, status.disruptedPods], [0, undefined])
      // With desiredHealthy 0 the application is not considered healthy.
      done(yield* ask("PATCH", `${budgets}/b/status`, { status: { desiredHealthy: 0 } }, merge))
      refused(yield* evict("b"), { code: 429, reason: "TooManyRequests", message: violates })
    })
  },
  {
    title: "unhealthyPodEvictionPolicy AlwaysAllow allows the eviction of unready pods",
    since: 27,
    rule: "KEP-3017: unhealthyPodEvictionPolicy is on from 1.27",
    run: Effect.fnUntraced(function* (subject) {
      const { budget, evict, run } = fixture(subject)
      yield* run("unready", "False")
      yield* run("ready")
      yield* budget("b", { currentHealthy: 0 }, { unhealthyPodEvictionPolicy: "AlwaysAllow" })
      done(yield* evict("unready"), 201)
      refused(yield* evict("ready"), { code: 429, reason: "TooManyRequests", message: violates })
    })
  },
  {
    title: "an empty selector of a budget selects every pod, an absent one selects none",
    since: 22,
    rule: "policy/v1 PodDisruptionBudget; pods/eviction of 1.22",
    run: Effect.fnUntraced(function* (subject) {
      const { budget, evict, run } = fixture(subject)
      yield* run("a")
      yield* budget("none", {}, { selector: null })
      done(yield* evict("a", { dryRun: ["All"] }), 201)
      yield* budget("all", {}, { selector: {} })
      refused(yield* evict("a"), { code: 429, reason: "TooManyRequests", message: violates })
    })
  },
  {
    title: "a strategic merge patch replaces the selector of a budget, a merge patch merges it",
    since: 21,
    rule: "policy/v1 PodDisruptionBudgetSpec: patchStrategy replace",
    run: Effect.fnUntraced(function* (subject) {
      const { ask } = subject
      const { budget, budgets } = fixture(subject)
      yield* budget("b", {}, { selector: { matchLabels: { a: "1" } } })
      const patch = { spec: { selector: { matchLabels: { b: "2" } } } }
      const merged = done(yield* ask("PATCH", `${budgets}/b`, patch, merge))
      assert.deepStrictEqual(merged.spec.selector, { matchLabels: { a: "1", b: "2" } })
      const replaced = done(yield* ask("PATCH", `${budgets}/b`, patch, strategic))
      assert.deepStrictEqual(replaced.spec.selector, { matchLabels: { b: "2" } })
    })
  }
]
