import * as Arbitrary from "effect/Arbitrary"
import * as Taints from "../../../src/controllers/nodelifecycle/taints.ts"
import * as Nodes from "../../../src/controllers/nodes/node.ts"
import type { Node } from "../../../src/kube/resources.ts"
import * as Time from "../../../src/kube/time.ts"
import { law, oneOf, prove, type ValueOf } from "../../support/laws.ts"

type Module = typeof Taints

const prefix = "node.kubernetes.io/"

const status = oneOf("absent", "True", "False", "Unknown")

const taint = Arbitrary.all({
  key: oneOf(
    `${prefix}not-ready`,
    `${prefix}unreachable`,
    `${prefix}memory-pressure`,
    `${prefix}unschedulable`,
    `${prefix}network-unavailable`,
    "example.com/mine"
  ),
  effect: oneOf("NoSchedule", "NoExecute", "PreferNoSchedule")
})

const nodes = Arbitrary.all({
  ready: status,
  memory: status,
  disk: status,
  pids: status,
  network: status,
  unschedulable: oneOf(true, false),
  isDisrupted: oneOf(true, false),
  taints: Arbitrary.array(taint, { maxLength: 5 }),
  os: oneOf("", "linux", "windows"),
  oldOs: oneOf("", "linux"),
  arch: oneOf("", "arm64"),
  oldArch: oneOf("", "amd64")
})

type Facts = ValueOf<typeof nodes>

const nodeOf = (facts: Facts): Node => ({
  metadata: {
    name: "n",
    labels: Object.fromEntries(
      [
        ["kubernetes.io/os", facts.os],
        ["beta.kubernetes.io/os", facts.oldOs],
        ["kubernetes.io/arch", facts.arch],
        ["beta.kubernetes.io/arch", facts.oldArch]
      ].filter(([, value]) => value !== "")
    ) as Record<string, string>
  },
  spec: {
    ...(facts.unschedulable ? { unschedulable: true } : {}),
    taints: facts.taints.filter(
      (one, i) => facts.taints.findIndex(({ effect, key }) => key === one.key && effect === one.effect) === i
    )
  },
  status: {
    conditions: [
      { type: "MemoryPressure", status: facts.memory },
      { type: "DiskPressure", status: facts.disk },
      { type: "PIDPressure", status: facts.pids },
      { type: "NetworkUnavailable", status: facts.network },
      { type: "Ready", status: facts.ready }
    ].filter((one) => one.status !== "absent")
  }
})

const withTaints = (node: Node, taints: NonNullable<Node["spec"]>["taints"]): Node => ({
  ...node,
  spec: { ...node.spec, ...(taints === undefined ? {} : { taints }) }
})

const named = (node: Node): ReadonlyArray<string> =>
  (node.spec?.taints ?? []).map(({ effect, key }) => `${key}:${effect}`)

const sorted = (texts: ReadonlyArray<string>): string => [...texts].sort().join()

const wanted = (facts: Facts): ReadonlyArray<string> =>
  [
    facts.ready === "False" ? "not-ready" : facts.ready === "Unknown" ? "unreachable" : "",
    facts.memory === "True" ? "memory-pressure" : "",
    facts.disk === "True" ? "disk-pressure" : "",
    facts.pids === "True" ? "pid-pressure" : "",
    facts.network === "True" ? "network-unavailable" : "",
    facts.unschedulable ? "unschedulable" : ""
  ].flatMap((key) => (key === "" ? [] : [`${prefix}${key}:NoSchedule`]))

const scheduling = law<Module, Facts>(
  "taints that keep pods away follow from the node and say since when; others stay, and nothing is written twice",
  nodes,
  (module, facts) => {
    const node = nodeOf(facts)
    const taints = module.scheduling(node, 7_000)
    const after = taints === undefined ? node : withTaints(node, [...taints])
    const others = named(node).filter((one) => !one.startsWith(prefix) || !one.endsWith(":NoSchedule"))
    return (
      sorted(named(after)) === sorted([...others, ...wanted(facts)]) &&
      module.scheduling(after, 9_000) === undefined &&
      (taints === undefined) === (sorted(named(node)) === sorted(named(after))) &&
      (taints ?? []).every(
        (taint) => taint.timeAdded === (Nodes.hasTaint(node, taint) ? undefined : Time.format(7_000))
      )
    )
  }
)

const driving = [`${prefix}not-ready:NoExecute`, `${prefix}unreachable:NoExecute`]

const fates = law<Module, Facts>(
  "a node that is well, or one of all that are not, comes to have no taint of ours that drives pods away; any other has the right one or waits",
  nodes,
  (module, facts) => {
    const node = nodeOf(facts)
    const fate = module.fateOf(node, facts.isDisrupted)
    const has = driving.filter((one) => named(node).includes(one))
    const isIll = facts.ready === "False" || facts.ready === "Unknown"
    if (facts.ready === "True" || facts.isDisrupted) {
      if (has.length > 0) {
        if (fate !== "Spare") return false
        const after = withTaints(node, [...(module.spared(node) ?? [])])
        const kept = named(node).filter((one) => !driving.includes(one))
        return sorted(named(after)) === sorted(kept) && module.fateOf(after, facts.isDisrupted) !== "Spare"
      }
      return module.spared(node) === undefined && fate === (isIll ? "Wait" : "Keep")
    }
    if (!isIll) return fate === "Keep"
    const right = facts.ready === "False" ? driving[0] : driving[1]
    if (has.length === 0) return fate === "Wait"
    return fate === (has.length === 1 && has[0] === right ? "Keep" : "Swap")
  }
)

const givenUp = law<Module, Facts>(
  "a node that is given up has the one taint for what it is, and since when; nothing is written twice",
  nodes,
  (module, facts) => {
    const node = nodeOf(facts)
    const taints = module.givenUp(node, 7_000)
    if (facts.ready !== "False" && facts.ready !== "Unknown") return taints === undefined
    const right = facts.ready === "False" ? "not-ready" : "unreachable"
    const after = taints === undefined ? node : withTaints(node, [...taints])
    const others = named(node).filter((one) => !driving.includes(one))
    const before = named(node).includes(`${prefix}${right}:NoExecute`)
    const added = after.spec?.taints?.find(({ effect, key }) => key === prefix + right && effect === "NoExecute")
    return (
      sorted(named(after)) === sorted([...others, `${prefix}${right}:NoExecute`]) &&
      added?.timeAdded === (before ? undefined : Time.format(7_000)) &&
      module.givenUp(after, 9_000) === undefined
    )
  }
)

const labels = law<Module, Facts>("old labels have the values of the new ones", nodes, (module, facts) => {
  const node = nodeOf(facts)
  const set = module.labels(node)
  const after = { ...node.metadata.labels, ...set }
  return (
    (facts.os === "" || after["beta.kubernetes.io/os"] === facts.os) &&
    (facts.arch === "" || after["beta.kubernetes.io/arch"] === facts.arch) &&
    (facts.os !== "" || after["beta.kubernetes.io/os"] === (facts.oldOs === "" ? undefined : facts.oldOs)) &&
    module.labels({ ...node, metadata: { ...node.metadata, labels: after } }) === undefined
  )
})

prove<Module>({
  path: "controllers/nodelifecycle/taints.ts",
  module: Taints,
  laws: [scheduling, fates, givenUp, labels],
  mutants: [
    {
      title: "unreachable is not ready",
      find: "{ False: notReadyKey, Unknown: unreachableKey }",
      replace: "{ False: notReadyKey, Unknown: notReadyKey }"
    },
    {
      title: "disk pressure is nothing",
      find: 'DiskPressure: { True: "node.kubernetes.io/disk-pressure" },',
      replace: ""
    },
    {
      title: "cordoned nodes take pods",
      find: "if (node.spec?.unschedulable === true) keys.push(unschedulableKey)",
      replace: ""
    },
    { title: "taints stay for ever", find: "ours.has(key) && !keys.includes(key)", replace: "ours.has(key) && false" },
    { title: "it takes what is not its own", find: "ours.has(key) && ", replace: "" },
    { title: "it takes what drives pods away", find: 'effect === "NoSchedule" && ours', replace: "ours" },
    {
      title: "a well node stays given up",
      find: '(isDisrupted || status === "True")) return "Spare"',
      replace: '(isDisrupted)) return "Spare"'
    },
    {
      title: "it gives up while nobody is ready",
      find: '(isDisrupted || status === "True")',
      replace: '(status === "True")'
    },
    {
      title: "the wrong taint stays",
      find: 'return givenUp(node, 0) === undefined ? "Keep" : "Swap"',
      replace: 'return "Keep"'
    },
    { title: "a node is given up for both reasons", find: "remove: [wrong]", replace: "remove: []" },
    { title: "one taint of two goes", find: "{ remove: [notReady, unreachable] }", replace: "{ remove: [notReady] }" },
    {
      title: "nobody knows since when",
      find: "add: [{ ...right, timeAdded: Time.format(now) }]",
      replace: "add: [right]"
    },
    { title: "labels are made of nothing", find: "value !== undefined && labels[old]", replace: "labels[old]" },
    { title: "old labels stay", find: "labels[old] !== value", replace: "labels[old] === undefined" }
  ]
})
