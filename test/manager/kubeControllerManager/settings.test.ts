import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Own from "../../../src/manager/kubeControllerManager/settings.ts"
import * as Sources from "../../../src/manager/setting/sources.ts"
import * as Cache from "../../../src/manager/settings/cache.ts"
import { common } from "../../../src/manager/settings.ts"

const own = Own.settingsOf(common)

const said = (flags: Readonly<Record<string, string>>) =>
  Result.getOrThrow(Sources.resolve(own, { flags: new Map(Object.entries(flags)), env: {} }))

const values = (flags: Readonly<Record<string, string>>) => Own.asOwn(said(flags), ["*"]).values

describe("the settings of kube-controller-manager's command", () => {
  it("have one port for probes and metrics, over HTTPS, which 0 turns off", () => {
    const at = (host: string, port: number) => ({
      metricsAddress: { host, port },
      probeAddress: { host, port },
      metricsSecure: true,
      metricsCertPath: Option.none()
    })
    assert.deepInclude(values({}), at("0.0.0.0", 10257))
    assert.deepInclude(values({ "bind-address": "127.0.0.1", "secure-port": "20257" }), at("127.0.0.1", 20257))
    assert.deepInclude(values({ "bind-address": "::1" }), at("::1", 10257))
    assert.deepInclude(values({ "secure-port": "0" }), { metricsAddress: undefined, probeAddress: undefined })
  })

  it("take a certificate and its key, each from its directory", () => {
    const files = { "tls-cert-file": "/etc/pki/tls.crt", "tls-private-key-file": "/etc/pki/tls.key" }
    assert.isUndefined(Own.contradiction(said(files)))
    assert.deepInclude(values(files), {
      metricsCertPath: Option.some("/etc/pki/"),
      metricsCertName: "tls.crt",
      metricsCertKey: "tls.key"
    })
    assert.match(Own.contradiction(said({ "tls-cert-file": "a" })) ?? "", /belong together/)
    const apart = { ...files, "tls-private-key-file": "/etc/private/tls.key" }
    assert.isUndefined(Own.contradiction(said(apart)))
    assert.deepInclude(values(apart), { metricsCertName: "tls.crt", metricsCertKey: "/etc/private/tls.key" })
    const relative = { ...files, "tls-private-key-file": "private/tls.key" }
    assert.match(Own.contradiction(said(relative)) ?? "", /absolute path/)
  })

  it("have kube-controller-manager's name for the Lease", () => {
    assert.strictEqual(values({}).coreLeaseName, "kube-controller-manager")
    const { coreLeaseName, leaseName } = values({ "leader-elect-resource-name": "mine" })
    assert.deepStrictEqual([coreLeaseName, leaseName], ["mine", "effect-controller-manager"])
    const { coreLeaseNamespace, leaseNamespace } = values({ "leader-elect-resource-namespace": "mine" })
    assert.deepStrictEqual([coreLeaseNamespace, leaseNamespace], ["mine", Option.none()])
  })

  it("turn the garbage collector off unless it is enabled, whatever --controllers says", () => {
    assert.deepStrictEqual(values({}).controllers, ["*"])
    assert.deepStrictEqual(values({ "enable-garbage-collector": "false" }).controllers, ["-garbagecollector", "*"])
  })

  it("run no cloud controllers with an external cloud provider", () => {
    assert.deepStrictEqual(values({ "cloud-provider": "external" }).cloudProvider, Option.none())
    assert.deepStrictEqual(values({ "cloud-provider": "memory" }).cloudProvider, Option.some("memory"))
  })

  it("resync after twelve hours at least, unless another period is given", () => {
    const periods = (flags: Readonly<Record<string, string>>) => Cache.options(values(flags)).resync
    assert.deepStrictEqual(periods({}), { period: Duration.hours(12), spread: "atLeast" })
    assert.deepStrictEqual(periods({ "min-resync-period": "1h" }), { period: Duration.hours(1), spread: "atLeast" })
    assert.deepStrictEqual(periods({ "sync-period": "1h" }), { period: Duration.hours(1), spread: "around" })
  })
})
