import * as Arbitrary from "effect/Arbitrary"
import * as Plan from "../../../src/controllers/tainteviction/plan.ts"
import type { Node, Pod } from "../../../src/kube/resources.ts"
import { law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

type Module = typeof Plan

const toleration = Arbitrary.all({
  key: oneOf("a", "b", ""),
  value: oneOf("", "", "1"),
  effect: oneOf("", "NoExecute", "NoExecute", "NoSchedule"),
  seconds: oneOf(-1, 0, 5, 5, 60, 300, 999_999)
})

/** Values and effects that fit come more often. */
const taint = Arbitrary.all({
  key: oneOf("a", "b"),
  value: oneOf("", "1"),
  effect: oneOf("NoExecute", "NoExecute", "NoSchedule")
})

const worlds = Arbitrary.all({
  tolerations: Arbitrary.array(toleration, { maxLength: 4 }),
  taints: Arbitrary.array(taint, { maxLength: 3 }),
  isKnown: oneOf(true, true, true, false),
  isDeleted: oneOf(true, false),
  scheduled: oneOf("none", "none", "past", "now", "future", "done"),
  since: oneOf(0, 500)
})

type World = ValueOf<typeof worlds>

const now = 1_000

const podOf = ({ isDeleted, tolerations }: World): Pod => ({
  metadata: { name: "p", namespace: "default", ...(isDeleted ? { deletionTimestamp: "2001-01-01T00:00:00Z" } : {}) },
  spec: {
    containers: [],
    tolerations: tolerations.map(({ effect, key, seconds, value }) => ({
      ...(key === "" ? { operator: "Exists" } : { key, operator: value === "" ? "Exists" : "Equal", value }),
      ...(effect === "" ? {} : { effect }),
      ...(seconds === 999_999 ? {} : { tolerationSeconds: seconds })
    }))
  }
})

const nodeOf = ({ taints }: World): Node => ({ metadata: { name: "n" }, spec: { taints: [...taints] } })

const scheduledOf = ({ scheduled, since }: World): Plan.Scheduled | undefined => {
  if (scheduled === "none") return undefined
  const due = { past: 900, now, future: 5_000, done: 900 }[scheduled]
  return { since, due, isDone: scheduled === "done" }
}

/** In milliseconds, said once more in the words of the contract. */
const stays = ({ taints, tolerations }: World): number => {
  const times = taints
    .filter(({ effect }) => effect === "NoExecute")
    .map((one) => {
      const used = tolerations.find(
        ({ effect, key, value }) =>
          effect !== "NoSchedule" && (key === "" || (key === one.key && (value === "" || value === one.value)))
      )
      if (used === undefined) return 0
      return used.seconds === 999_999 ? Infinity : Math.max(0, used.seconds) * 1000
    })
  return Math.min(Infinity, ...times)
}

const expected = (world: World): Plan.Decision => {
  const scheduled = scheduledOf(world)
  const isPending = scheduled?.isDone === false
  if (!world.isKnown) {
    if (scheduled === undefined || !isPending) return { _tag: "Leave" }
    if (scheduled.due > now) return { _tag: "Keep", due: scheduled.due }
    return { _tag: world.isDeleted ? "Leave" : "Evict" }
  }
  const time = stays(world)
  if (time === Infinity) return { _tag: scheduled === undefined ? "Leave" : "Cancel" }
  if (scheduled !== undefined && !isPending) return { _tag: "Leave" }
  if (time === 0 || (scheduled !== undefined && scheduled.due <= now)) {
    return { _tag: world.isDeleted ? "Leave" : "Evict" }
  }
  if (scheduled !== undefined) return { _tag: "Keep", due: scheduled.due }
  return world.isDeleted ? { _tag: "Leave" } : { _tag: "Schedule", since: now, due: now + time }
}

const decide = (module: Module, world: World, given: Partial<Plan.Given> = {}): Plan.Decision =>
  module.decide({
    pod: podOf(world),
    taints: world.isKnown ? module.driving(nodeOf(world)) : undefined,
    scheduled: scheduledOf(world),
    now,
    ...given
  })

const table = law<Module, World>("what the contract says of any pod on any node", worlds, (module, world) => {
  const [is, should] = [decide(module, world), expected(world)]
  return JSON.stringify(is) === JSON.stringify(should)
})

const never = law<Module, World>("an eviction that was decided on is never put off", worlds, (module, world) => {
  const scheduled = scheduledOf(world)
  const decision = decide(module, world)
  if (scheduled?.isDone !== false) return true
  if (decision._tag === "Keep") return decision.due <= scheduled.due
  return decision._tag !== "Schedule"
})

const rests = law<Module, World>(
  "what was decided is decided, until time or the world changes",
  worlds,
  (module, world) => {
    const decision = decide(module, world)
    if (decision._tag === "Schedule") {
      const scheduled = { since: decision.since, due: decision.due, isDone: false }
      return decide(module, world, { scheduled })._tag === "Keep"
    }
    if (decision._tag === "Cancel") return decide(module, world, { scheduled: undefined })._tag === "Leave"
    if (decision._tag === "Evict") {
      return decide(module, world, { scheduled: { since: now, due: now, isDone: true } })._tag === "Leave"
    }
    return true
  }
)

const tolerated = Arbitrary.array(oneOf(-1, 0, 1, 5, 60, 300, 999_999), { maxLength: 4 })

const shortest = law<Module, ReadonlyArray<number>>(
  "of taints that are all tolerated, the shortest time counts",
  tolerated,
  (module, seconds) => {
    const times = seconds.map((one) => (one === 999_999 ? Infinity : Math.max(0, one * 1000)))
    const tolerations = seconds.map((tolerationSeconds, i) => ({
      key: `key-${i}`,
      operator: "Exists",
      ...(tolerationSeconds === 999_999 ? {} : { tolerationSeconds })
    }))
    const pod: Pod = { metadata: { name: "p" }, spec: { containers: [], tolerations } }
    const taints = seconds.map((_, i) => ({ key: `key-${i}`, effect: "NoExecute" }))
    return module.patience(pod, taints) === Math.min(Infinity, ...times)
  }
)

prove<Module>({
  path: "controllers/tainteviction/plan.ts",
  module: Plan,
  laws: [table, never, rests, shortest],
  mutants: [
    { title: "every taint drives pods away", find: 'effect === "NoExecute"', replace: 'effect !== ""' },
    {
      title: "the longest time counts",
      find: "Math.min(shortest, ",
      replace: "Math.max(shortest === Infinity ? 0 : shortest, "
    },
    {
      title: "what is not tolerated is",
      find: "if (used === undefined) return 0",
      replace: "if (used === undefined) continue"
    },
    { title: "seconds are milliseconds", find: "used.tolerationSeconds * 1000", replace: "used.tolerationSeconds" },
    {
      title: "less than nothing is for ever",
      find: "Math.max(0, used.tolerationSeconds * 1000)",
      replace: "used.tolerationSeconds < 0 ? Infinity : used.tolerationSeconds * 1000"
    },
    { title: "it is put off", find: 'if (held !== undefined) return { _tag: "Keep", due: held.due }', replace: "" },
    { title: "nothing is cancelled", find: 'scheduled === undefined ? leave : { _tag: "Cancel" }', replace: "leave" },
    { title: "it evicts again and again", find: "if (scheduled?.isDone === true) return leave", replace: "" },
    { title: "it never comes to it", find: "held.due <= now", replace: "held.due < 0" },
    {
      title: "what is being deleted is deleted again",
      find: 'return isGoing ? leave : { _tag: "Evict" }',
      replace: 'return { _tag: "Evict" }'
    },
    {
      title: "what is being deleted is to be",
      find: 'return isGoing ? leave : { _tag: "Schedule"',
      replace: 'return { _tag: "Schedule"'
    },
    {
      title: "a lost node lets pods stay",
      find: "taints === undefined && held === undefined",
      replace: "taints === undefined"
    }
  ]
})
