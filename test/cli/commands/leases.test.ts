import { assert, describe, it } from "@effect/vitest"
import { report, type Row } from "../../../src/cli/commands/leases.ts"
import { table } from "../../../src/cli/output/table.ts"
import type { Lease } from "../../../src/kube/resources.ts"

const now = Date.parse("2030-01-01T00:01:00Z")

const lease = { namespace: "kube-system", name: "web", isElected: true }

/** A Lease as stored: times are texts. */
const found = (spec: object): Lease => ({ metadata: { name: "web" }, spec })

const held = {
  holderIdentity: "host_1",
  leaseDurationSeconds: 15,
  acquireTime: "2030-01-01T00:00:00.000000Z",
  renewTime: "2030-01-01T00:00:55.000000Z",
  leaseTransitions: 3
}

const row = (over: Partial<Row>): Row => ({ group: "own", lease, controllers: ["a", "b"], found: undefined, ...over })

const stateOf = (over: Partial<Row>) => {
  const { leases } = report([row(over)], now).value as { leases: ReadonlyArray<{ state: string }> }
  return leases[0]?.state
}

describe("the report of leases", () => {
  it("has all fields of a Lease that is held", () => {
    const { columns, rows, value } = report([row({ found: found(held) })], now)
    assert.deepStrictEqual(value, {
      leases: [
        {
          group: "own",
          namespace: "kube-system",
          name: "web",
          state: "held",
          holder: "host_1",
          acquireTime: held.acquireTime,
          renewTime: held.renewTime,
          leaseDurationSeconds: 15,
          transitions: 3,
          controllers: ["a", "b"]
        }
      ]
    })
    assert.match(table(columns, rows), /\nown +kube-system\/web +held +host_1 +5s$/)
    assert.match(table(columns, rows, { isWide: true }), /\nown .* 60s +15s +3 +a,b$/)
  })

  it("distinguishes no election, no Lease, no holder, and a holder that renews no longer", () => {
    assert.strictEqual(stateOf({ lease: { ...lease, isElected: false } }), "not elected")
    assert.strictEqual(stateOf({}), "missing")
    assert.strictEqual(stateOf({ found: found({ ...held, holderIdentity: "" }) }), "free")
    assert.strictEqual(stateOf({ found: found({ ...held, renewTime: "2030-01-01T00:00:44Z" }) }), "expired")
    assert.strictEqual(stateOf({ found: found({ holderIdentity: "x", renewTime: "no time" }) }), "held")
  })
})
