import { assert, describe, it } from "@effect/vitest"
import * as Flags from "../../../src/manager/kubeControllerManager/flags.ts"
import { gates, settings } from "../../support/controllers.ts"

const translate = (...argv: ReadonlyArray<string>) => Flags.translate(argv, settings, gates)

describe("flags of kube-controller-manager that mean nothing here", () => {
  it("are removed with their values, however they are written, and logged by their reason", () => {
    assert.deepStrictEqual(
      translate(
        "--allocate-node-cidrs=true",
        "--kubeconfig=a",
        "--cluster-cidr",
        "10.244.0.0/16",
        "--cluster_signing_key_file=/x",
        "-service-cluster-ip-range=10.96.0.0/12",
        "--leader-elect"
      ),
      {
        argv: ["--kubeconfig=a", "--leader-elect=true"],
        notes: [
          "--allocate-node-cidrs, --cluster-cidr and --service-cluster-ip-range have no effect, because the controller that gives pods their addresses is not in this program",
          "--cluster-signing-key-file has no effect, because the controllers that sign certificates are not in this program"
        ]
      }
    )
  })

  it("without a value leave the next argument alone", () => {
    assert.deepStrictEqual(translate("--allocate-node-cidrs", "--kubeconfig", "a").argv, ["--kubeconfig=a"])
  })

  it("that are unknown stay, and the parser rejects them", () => {
    assert.deepStrictEqual(translate("--alocate-node-cidrs=true").argv, ["--alocate-node-cidrs=true"])
  })

  it("that the program has itself are not among them", () => {
    const argv = ["--concurrent-cron-job-syncs=3", "--root-ca-file=ca.crt"]
    assert.deepStrictEqual(translate(...argv), { argv, notes: [] })
  })
})
