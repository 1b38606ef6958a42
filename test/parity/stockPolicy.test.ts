/**
 * Every core loop needs no more rights than a cluster grants by itself to the controllers of Kubernetes 1.36: the rights that it declares, and those that
 * the program needs around it. `test/scenario/stockRoles.test.ts` shows on a real API server that these are really enough.
 */
import { assert, describe, it } from "@effect/vitest"
import { tableOf } from "../support/controllers.ts"
import * as Permissions from "../../src/manager/permissions.ts"
import * as Stock from "./stockPolicy.ts"

/** Everything is turned on that a file or a flag can turn on. */
const core = tableOf({ "service-account-private-key-file": "sa.key" }).filter(
  ({ controller, group }) => group === "core" && controller.cloud !== true
)

const lease = { namespace: "kube-system", name: "kube-controller-manager" }

const say = ({ group, needed, resource, subresource, verb }: Permissions.Permission) =>
  `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}${group === "" ? "" : ` of ${group}`} (${needed.join(", ")})`

const beyond = (held: ReadonlyArray<Permissions.Permission>, wanted: ReadonlyArray<Permissions.Permission>) =>
  wanted.filter((one) => !held.some((other) => Permissions.covers(other, one))).map(say)

describe("what a cluster grants its controllers by itself", () => {
  for (const { account, controller } of core) {
    // The loop that starts first creates the others' tokens, and works with the program's own rights.
    if (controller.startFirst === true) continue
    it(`is enough for the account of ${controller.name}`, () => {
      const held = Stock.ofAccount(account ?? controller.name)
      assert.isDefined(held, `no role for ${account ?? controller.name}`)
      assert.deepStrictEqual(
        beyond(held, Permissions.delegated({ who: controller.name, access: controller.access })),
        []
      )
    })
  }

  it("is enough for the program, which reads, leads, records and requests the accounts' tokens", () => {
    const controllers = core.map(({ account, controller: { access, name, startFirst } }) => ({
      who: name,
      access,
      account: startFirst === true ? undefined : (account ?? name)
    }))
    const wanted = Permissions.needed({ controllers, leases: [lease], secureMetrics: true })
    assert.deepStrictEqual(beyond(Stock.ofManager, wanted), [])
  })

  it("is not enough for the work of another loop, which the check detects", () => {
    const deployment = core.find(({ controller }) => controller.name === "deployment")
    assert.isDefined(deployment)
    const { access, name } = deployment.controller
    const missed = beyond(Stock.ofAccount("replicaset-controller") ?? [], Permissions.delegated({ who: name, access }))
    assert.include(missed, "update deployments/status of apps (deployment)")
  })
})
