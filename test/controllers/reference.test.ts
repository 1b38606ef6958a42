/**
 * The table of controllers in docs/controllers.md: it names all controllers of kube-controller-manager, and those that it lists as running here are
 * in the registry under that name. Source: cmd/kube-controller-manager/names.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { registry } from "../../src/controllers/registry.ts"
import { table } from "../support/controllers.ts"

const text = readFileSync(fileURLToPath(new URL("../../docs/controllers.md", import.meta.url)), "utf8")

interface Row {
  readonly reference: string
  readonly here: string | undefined
  readonly why: string
}

const rowsIn = (page: string): ReadonlyArray<Row> => {
  const [, after = ""] = page.split("\n## Every controller of kube-controller-manager 1.36\n")
  const [section = ""] = after.split("\n## ")
  return Array.from(section.matchAll(/^\| `([\w-]+)` \| (no|`([\w-]+)`) \| (.*?) ?\|$/gm), (found) => ({
    reference: found[1] ?? "",
    here: found[3],
    why: found[4] ?? ""
  }))
}

/** The controllers that the help of kube-controller-manager lists. */
const names =
  `serviceaccount-token endpoints endpointslice endpointslice-mirroring replicationcontroller pod-garbage-collector resourcequota
  namespace serviceaccount garbage-collector daemonset job podgroup-protection deployment replicaset horizontal-pod-autoscaler disruption
  statefulset cronjob certificatesigningrequest-signing certificatesigningrequest-approving certificatesigningrequest-cleaner
  podcertificaterequest-cleaner ttl bootstrap-signer token-cleaner node-ipam node-lifecycle taint-eviction service-lb node-route
  cloud-node-lifecycle persistentvolume-binder persistentvolume-attach-detach persistentvolume-expander clusterrole-aggregation
  persistentvolumeclaim-protection persistentvolume-protection volumeattributesclass-protection ttl-after-finished
  root-ca-certificate-publisher kube-apiserver-serving-clustertrustbundle-publisher ephemeral-volume storageversion-garbage-collector
  resourceclaim resourcepoolstatusrequest device-taint-eviction legacy-serviceaccount-token-cleaner validatingadmissionpolicy-status
  service-cidr storage-version-migrator selinux-warning`
    .split(/\s+/)
    .map((name) => `${name}-controller`)

const core = table.filter(({ group }) => group === "core")

/** The cells of the table at the top of the page, by name of the controller. */
const declared = new Map(
  (text.split("\n## ")[0] ?? "").split("\n").flatMap((line) => {
    const [, name = "", names = "", flags = "", component = ""] = line.split("|").map((cell) => cell.trim())
    return name.startsWith("`") ? [[codes(name)[0] ?? "", { names: codes(names), flags, component }] as const] : []
  })
)

function codes(cell: string): ReadonlyArray<string> {
  return Array.from(cell.matchAll(/`([^`]+)`/g), (found) => found[1] ?? "")
}

describe("the table of the controllers of this program", () => {
  it("has each controller with its aliases", () => {
    assert.deepStrictEqual(
      Object.fromEntries(Array.from(declared, ([name, { names }]) => [name, [...names].sort()])),
      Object.fromEntries(table.map(({ aliases = [], controller }) => [controller.name, [...aliases].sort()]))
    )
  })

  it("names a component exactly for the controllers that record events", () => {
    assert.sameMembers(
      Array.from(declared).flatMap(([name, { component }]) => (component === "" ? [] : [name])),
      table.flatMap(({ controller }) =>
        controller.access.some(({ grant }) => grant === "record") ? [controller.name] : []
      )
    )
  })

  it("has each flag with its default", () => {
    const flags = Array.from(declared.values()).flatMap(({ flags }) =>
      Array.from(
        flags.matchAll(/`--([\w-]+)`(?: \(`?([\w.:-]+)`?[);])?/g),
        ([, name = "", initial]) => [name, initial] as const
      )
    )
    const tuning = registry.flatMap((one) => Object.values(one.settings)).filter(({ gate }) => gate === undefined)
    for (const { name } of tuning)
      assert.include(
        flags.map(([flag]) => flag),
        name
      )
    for (const [name, initial] of flags) {
      const setting = tuning.find((one) => one.name === name)
      if (setting !== undefined) assert.strictEqual(initial, setting.default, name)
    }
  })
})

describe("a feature that the page calls missing", () => {
  it("is neither a controller nor a debug page of the program", () => {
    const controllers = table.flatMap(({ aliases = [], controller }) => [controller.name].concat(aliases))
    const pages = table.flatMap(({ controller }) => Object.keys(controller.debug ?? {}))
    const names = controllers.map((name) => `\`${name}\``).concat(pages.map((page) => `debug ${page}`))
    const sentences = text.split(/\. |[|\n]/).filter((sentence) => /\bis not (?:t?here)\b/.test(sentence))
    for (const sentence of sentences) for (const name of names) assert.notInclude(sentence, name)
  })
})

describe("the table of the controllers of kube-controller-manager", () => {
  const rows = rowsIn(text)

  it("has each controller once", () => {
    assert.deepStrictEqual(
      rows.map(({ reference }) => reference),
      names
    )
  })

  it("has a reason for each missing controller", () => {
    assert.deepStrictEqual(
      rows.filter(({ here, why }) => (here === undefined) === (why === "")),
      []
    )
  })

  it("has all core controllers of the program, each with the upstream name as an alias", () => {
    assert.sameMembers(
      rows.flatMap(({ here }) => here ?? []),
      core.map(({ controller }) => controller.name)
    )
    const here = new Map(rows.map(({ here, reference }) => [here, reference]))
    for (const { aliases = [], controller } of core) assert.include([...aliases], here.get(controller.name))
  })
})
