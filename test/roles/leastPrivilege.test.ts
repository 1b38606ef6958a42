/**
 * Least privilege, proven: every story is told under exactly the roles that `manifests` prints, enforced by the embedded server. Nothing is
 * denied; of what is granted everything is used; and with any single grant taken away a story breaks.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { roster } from "../../src/controllers/registry.ts"
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
import * as Story from "./story.ts"
import * as Tokens from "./tokens.ts"

const stories = [
  ...Program.stories,
  ...Housekeeping.stories,
  ...Quotas.stories,
  ...Replicas.stories,
  ...Nodes.stories,
  ...Operators.stories,
  ...Jobs.stories,
  ...Schedules.stories,
  ...Tokens.stories,
  ...Daemons.stories,
  ...Services.stories,
  ...Budgets.stories,
  ...ClusterRoles.stories,
  ...Autoscalers.stories
]

describe("under exactly the roles that are printed", () => {
  /** By what a grant says: the grant, and the first story that makes use of it. */
  const granted = new Map<string, { readonly grant: Grants.Grant; story: Story.Story | undefined }>()

  for (const story of stories) {
    it.effect(story.title, () =>
      Effect.gen(function* () {
        const told = yield* Story.tell(story)
        assert.deepStrictEqual(told.denied, [])
        for (const grant of told.granted) {
          const said = Grants.say(grant)
          const known = granted.get(said) ?? { grant, story: undefined }
          granted.set(said, known)
          if (told.used.has(said)) known.story ??= story
        }
      })
    )
  }

  for (const story of Replicas.some) {
    it.effect(story.title, () => Effect.map(Story.tell(story), ({ denied }) => assert.deepStrictEqual(denied, [])))
  }

  it("everything that is granted is made use of", () =>
    assert.deepStrictEqual(
      [...granted].filter(([, { story }]) => story === undefined).map(([said]) => said),
      []
    ))

  it.effect(
    "with any grant taken away, a story breaks",
    () =>
      Effect.gen(function* () {
        const spare: Array<string> = []
        for (const [said, { grant, story }] of granted) {
          if (story !== undefined && !(yield* Story.breaks(story, Grants.without(grant)))) spare.push(said)
        }
        assert.deepStrictEqual(spare, [])
      }),
    120_000
  )
})

describe("what proves it would notice", () => {
  const [story] = Housekeeping.stories
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
  const more: Story.Roles = (printed) => [...printed, spare, bound]

  it.effect("a grant too many: it is not used, and without it nothing breaks", () =>
    Effect.gen(function* () {
      assert.isDefined(story)
      const { denied, granted, used } = yield* Story.tell(story, more)
      const idle = granted.filter((grant) => !used.has(Grants.say(grant)))
      assert.deepStrictEqual([idle.map(Grants.say), denied], [["get secrets as effect-controller-manager"], []])
      const [grant] = idle
      assert.isDefined(grant)
      assert.isFalse(yield* Story.breaks(story, (printed) => Grants.without(grant)(more(printed))))
    })
  )

  it.effect("a grant too few: it is told as denied", () =>
    Effect.gen(function* () {
      assert.isDefined(story)
      const { granted } = yield* Story.tell(story)
      const patch = granted.find(({ rule }) => rule.resources[0] === "nodes" && rule.verbs[0] === "patch")
      assert.isDefined(patch)
      const heard: Array<string> = []
      yield* story
        .tell({
          roles: Grants.without(patch),
          onEntry: (entry) => void (Audit.isDenied(entry) && heard.push(Audit.line(entry)))
        })
        .pipe(Effect.scoped, Effect.exit)
      assert.strictEqual(heard[0], `patch nodes as ${Accounts.programUser.name}`)
    })
  )

  it("the roles of the stories are those that the command prints", () => {
    const all = roster({ podCount: { schedule: Schedule.forever, nodeSelector: undefined } })
    const chosen = all.map(({ controller: { access, name }, group }) => ({
      who: name,
      access,
      needsLeader: false,
      isCore: group === "core"
    }))
    for (const namespaces of [[], ["blue", "red"]]) {
      const flags = new Map(namespaces.length === 0 ? [] : [["watch-namespaces", namespaces.join(",")]])
      const resolved = Result.getOrThrow(Sources.resolve(settings, { flags, env: {} }))
      const told = Permissions.needed({ controllers: chosen, leases: [], namespaces, secureMetrics: true })
      const account = { name: "effect-controller-manager", namespace: "effect-controller-manager" }
      assert.sameMembers(
        Grants.of(Command.manifests(resolved, chosen)).map(Grants.say),
        Grants.of(rolesOf(account.name, { ...account, permissions: told }, {})).map(Grants.say)
      )
    }
  })
})
