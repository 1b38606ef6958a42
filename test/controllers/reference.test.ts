/**
 * The table of docs/controllers.md that goes through every controller of kube-controller-manager: it names all of them, and what it says
 * runs here is what the program has, under the name that the reference gives it. Source: controllers.md H.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Schedule from "effect/Schedule"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { roster } from "../../src/controllers/roster.ts"

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

/** As its `--help` lists them. */
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

const core = roster({ podCount: { schedule: Schedule.forever, nodeSelector: undefined } }).filter(
  ({ group }) => group === "core"
)

describe("the table of every controller of the reference", () => {
  const rows = rowsIn(text)

  it("has each of them once", () => {
    assert.deepStrictEqual(
      rows.map(({ reference }) => reference),
      names
    )
  })

  it("says of each that is not here why", () => {
    assert.deepStrictEqual(
      rows.filter(({ here, why }) => (here === undefined) === (why === "")),
      []
    )
  })

  it("names what the program has, nothing less and nothing more, each answering to the reference's name", () => {
    assert.sameMembers(
      rows.flatMap(({ here }) => here ?? []),
      core.map(({ controller }) => controller.name)
    )
    const here = new Map(rows.map(({ here, reference }) => [here, reference]))
    for (const { aliases = [], controller } of core) assert.include([...aliases], here.get(controller.name))
  })
})
