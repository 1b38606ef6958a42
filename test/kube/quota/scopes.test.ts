/** Which objects quotas with scopes count: cases of the reference's matching, and PriorityClass names compared with label selectors. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type { KubeObject } from "../../../src/kube/Meta.ts"
import * as Names from "../../../src/kube/quota/names.ts"
import * as Scopes from "../../../src/kube/quota/scopes.ts"
import * as Selector from "../../../src/kube/Selector.ts"
import { checkProperty, oneOf } from "../../support/property.ts"

const of = (spec: object, status: object = {}): KubeObject => ({ metadata: { name: "a" }, spec, status }) as KubeObject

const says = (scopeName: string, kind: Names.Counted, object: KubeObject) =>
  Scopes.match(Scopes.of({ spec: { scopes: [scopeName] } }), kind, object)

const term = (more: object) => ({ topologyKey: "zone", ...more })

describe("a scope", () => {
  it("Terminating matches pods with a deadline, and NotTerminating the others", () => {
    const rows = [{}, { activeDeadlineSeconds: 0 }, { activeDeadlineSeconds: 60 }].map((spec) =>
      ["Terminating", "NotTerminating"].map((scope) => says(scope, Names.pods, of(spec)))
    )
    assert.deepStrictEqual(rows, [
      [false, true],
      [true, false],
      [true, false]
    ])
  })

  it("BestEffort matches pods without requests and limits, and NotBestEffort the others", () => {
    const containers = [{ name: "main", resources: { limits: { memory: "1Gi" } } }]
    const rows = [of({ containers }), of({ containers: [] }), of({ containers: [] }, { qosClass: "Burstable" })].map(
      (pod) => ["BestEffort", "NotBestEffort"].map((scope) => says(scope, Names.pods, pod))
    )
    assert.deepStrictEqual(rows, [
      [false, true],
      [true, false],
      [false, true]
    ])
  })

  it("CrossNamespacePodAffinity matches pods whose affinity names other namespaces", () => {
    const affinity = (kind: string, terms: object) => of({ affinity: { [kind]: terms } })
    const required = (more: object) => ({ requiredDuringSchedulingIgnoredDuringExecution: [term({}), term(more)] })
    const preferred = (more: object) => ({
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(more) }]
    })
    const pods = [
      of({}),
      affinity("podAntiAffinity", required({})),
      affinity("podAntiAffinity", required({ namespaces: ["b"] })),
      affinity("podAffinity", required({ namespaceSelector: {} })),
      affinity("podAffinity", preferred({ namespaces: ["b"] })),
      affinity("podAntiAffinity", preferred({ namespaces: [] }))
    ]
    assert.deepStrictEqual(
      pods.map((pod) => says("CrossNamespacePodAffinity", Names.pods, pod)),
      [false, false, true, true, true, false]
    )
  })

  it("VolumeAttributesClass matches claims by the requested class, the present one and the target of a change", () => {
    const [gold, silver] = ["gold", "silver"]
    const claims = [
      of({}),
      of({ volumeAttributesClassName: gold }),
      of({ volumeAttributesClassName: silver }, { currentVolumeAttributesClassName: gold }),
      of({}, { modifyVolumeStatus: { status: "InProgress", targetVolumeAttributesClassName: gold } }),
      of({ volumeAttributesClassName: silver })
    ]
    const match = (operator: string, values: ReadonlyArray<string> = []) => {
      const matchExpressions = [{ scopeName: "VolumeAttributesClass", operator, values: [...values] }]
      return claims.map((one) =>
        Scopes.match(Scopes.of({ spec: { scopeSelector: { matchExpressions } } }), Names.claims, one)
      )
    }
    assert.deepStrictEqual(match("In", [gold]), [false, true, true, true, false])
    assert.deepStrictEqual(match("NotIn", [gold]), [true, false, true, false, true])
    assert.deepStrictEqual(match("Exists"), [false, true, true, true, true])
    assert.deepStrictEqual(match("DoesNotExist"), [true, false, false, false, false])
  })

  it("matches no object of another kind, and an unknown scope matches nothing", () => {
    const free = of({})
    assert.isFalse(says("VolumeAttributesClass", Names.pods, of({ volumeAttributesClassName: "gold" })))
    assert.isFalse(says("NotTerminating", Names.claims, free))
    assert.isFalse(says("NotTerminating", Names.services, free))
    assert.isFalse(says("Unheard", Names.pods, free))
    assert.isTrue(Scopes.match([], Names.services, free))
  })

  it("of either field of a quota has to match together with all others", () => {
    const matchExpressions = [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }]
    const scopes = Scopes.of({ spec: { scopes: ["Terminating"], scopeSelector: { matchExpressions } } })
    const pods = [
      { activeDeadlineSeconds: 1 },
      { priorityClassName: "high" },
      { activeDeadlineSeconds: 1, priorityClassName: "high" }
    ]
    assert.deepStrictEqual(
      pods.map((spec) => Scopes.match(scopes, Names.pods, of(spec))),
      [false, false, true]
    )
  })
})

const name = oneOf("", "low", "high")
const said = Arbitrary.all({
  priorityClassName: name,
  operator: oneOf("In", "NotIn", "Exists", "DoesNotExist"),
  values: Arbitrary.array(oneOf("low", "high", "other"), { minLength: 1, maxLength: 2 })
})

describe("Scopes", () => {
  checkProperty(
    "PriorityClass selects names as a label selector selects a label",
    said,
    ({ operator, priorityClassName, values }) => {
      const isList = operator === "In" || operator === "NotIn"
      const selector = [{ key: "class", operator, values: isList ? values : [] }]
      const labels = priorityClassName === "" ? {} : { class: priorityClassName }
      const scope = { scopeName: "PriorityClass", operator, values: isList ? values : [] }
      return Scopes.match([scope], Names.pods, of({ priorityClassName })) === Selector.matchesLabels(selector, labels)
    }
  )
})
