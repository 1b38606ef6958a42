/**
 * Least privilege: every scenario runs under exactly the roles that `manifests` prints, enforced by the embedded server. No request is denied,
 * every grant is used, and without any single grant a scenario fails.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { table } from "../support/controllers.ts"
import * as Accounts from "../../src/testing/accounts.ts"
import * as Command from "../../src/manager/manifests/command.ts"
import { settings } from "../../src/manager/manifests/settings.ts"
import type { Manifest } from "../../src/manager/manifests/Installation.ts"
import { rolesOf } from "../../src/manager/manifests/roles.ts"
import * as Permissions from "../../src/manager/permissions.ts"
import * as Sources from "../../src/manager/setting/sources.ts"
import * as Audit from "../support/audit.ts"
import * as Autoscalers from "./autoscalers.ts"
import * as Budgets from "./budgets.ts"
import * as ClusterRoles from "./clusterRoles.ts"
import * as Grants from "./grants.ts"
import * as Housekeeping from "./housekeeping.ts"
import * as Nodes from "./nodes.ts"
import * as Operators from "./operators.ts"
import * as Daemons from "./daemons.ts"
import * as Jobs from "./jobs.ts"
import * as Program from "./program.ts"
import * as Quotas from "./quotas.ts"
import * as Replicas from "./replicas.ts"
import * as Schedules from "./schedules.ts"
import * as Services from "./services.ts"
import * as Scenario from "./scenario.ts"
import * as Tokens from "./tokens.ts"

const scenarios = [
  ...Program.scenarios,
  ...Housekeeping.scenarios,
  ...Quotas.scenarios,
  ...Replicas.scenarios,
  ...Nodes.scenarios,
  ...Operators.scenarios,
  ...Jobs.scenarios,
  ...Schedules.scenarios,
  ...Tokens.scenarios,
  ...Daemons.scenarios,
  ...Services.scenarios,
  ...Budgets.scenarios,
  ...ClusterRoles.scenarios,
  ...Autoscalers.scenarios
]

describe("under exactly the printed roles", () => {
  /** By its text: each grant, and the first scenario that uses it. */
  const granted = new Map<string, { readonly grant: Grants.Grant; scenario: Scenario.Scenario | undefined }>()

  for (const scenario of scenarios) {
    it.effect(scenario.title, () =>
      Effect.gen(function* () {
        const outcome = yield* Scenario.run(scenario)
        assert.deepStrictEqual(outcome.denied, [])
        for (const grant of outcome.granted) {
          const text = Grants.describe(grant)
          const known = granted.get(text) ?? { grant, scenario: undefined }
          granted.set(text, known)
          if (outcome.used.has(text)) known.scenario ??= scenario
        }
      })
    )
  }

  for (const scenario of Replicas.some) {
    it.effect(scenario.title, () =>
      Effect.map(Scenario.run(scenario), ({ denied }) => assert.deepStrictEqual(denied, []))
    )
  }

  it("every grant is used", () =>
    assert.deepStrictEqual(
      [...granted].filter(([, { scenario }]) => scenario === undefined).map(([text]) => text),
      []
    ))

  it.effect(
    "without any single grant, a scenario fails",
    () =>
      Effect.gen(function* () {
        const spare: Array<string> = []
        for (const [text, { grant, scenario }] of granted) {
          if (scenario !== undefined && !(yield* Scenario.breaks(scenario, Grants.without(grant)))) spare.push(text)
        }
        assert.deepStrictEqual(spare, [])
      }),
    120_000
  )
})

describe("the checks of this file", () => {
  const [scenario] = Housekeeping.scenarios
  const spare: Manifest = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "spare" },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]
  }
  const [program] = Accounts.programUser.name.split(":").slice(-1)
  const bound: Manifest = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "spare" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "spare" },
    subjects: [{ kind: "ServiceAccount", namespace: program, name: program }]
  }
  const more: Scenario.Roles = (printed) => [...printed, spare, bound]

  it.effect("find a superfluous grant: it is not used, and without it the scenario still passes", () =>
    Effect.gen(function* () {
      assert.isDefined(scenario)
      const { denied, granted, used } = yield* Scenario.run(scenario, more)
      const idle = granted.filter((grant) => !used.has(Grants.describe(grant)))
      assert.deepStrictEqual([idle.map(Grants.describe), denied], [["get secrets as effect-controller-manager"], []])
      const [grant] = idle
      assert.isDefined(grant)
      assert.isFalse(yield* Scenario.breaks(scenario, (printed) => Grants.without(grant)(more(printed))))
    })
  )

  it.effect("report a missing grant as a denied request", () =>
    Effect.gen(function* () {
      assert.isDefined(scenario)
      const { granted } = yield* Scenario.run(scenario)
      const patch = granted.find(({ rule }) => rule.resources[0] === "nodes" && rule.verbs[0] === "patch")
      assert.isDefined(patch)
      const denied: Array<string> = []
      yield* scenario
        .run({
          roles: Grants.without(patch),
          onEntry: (entry) => void (Audit.isDenied(entry) && denied.push(Audit.line(entry)))
        })
        .pipe(Effect.scoped, Effect.exit)
      assert.strictEqual(denied[0], `patch nodes as ${Accounts.programUser.name}`)
    })
  )

  it("the scenarios run under the roles that the command prints", () => {
    const chosen = table.map(({ controller: { access, name }, group }) => ({
      who: name,
      access,
      needsLeader: false,
      isCore: group === "core"
    }))
    for (const namespaces of [[], ["blue", "red"]]) {
      const flags = new Map(namespaces.length === 0 ? [] : [["watch-namespaces", namespaces.join(",")]])
      const resolved = Result.getOrThrow(Sources.resolve(settings, { flags, env: {} }))
      const needed = Permissions.needed({ controllers: chosen, leases: [], namespaces, secureMetrics: true })
      const account = { name: "effect-controller-manager", namespace: "effect-controller-manager" }
      assert.sameMembers(
        Grants.of(Command.manifests(resolved, chosen)).map(Grants.describe),
        Grants.of(rolesOf(account.name, { ...account, permissions: needed }, {})).map(Grants.describe)
      )
    }
  })
})
