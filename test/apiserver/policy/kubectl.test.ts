/** kubectl with admission policies. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { configMap } from "../client.ts"
import { cluster, missing } from "../openapi/kubectl.ts"
import { binding, policy, policySpec } from "./harness.ts"

if (missing !== undefined) console.log(`skipped: kubectl with admission policies, because there is ${missing}`)

const group = { apiVersion: "admissionregistration.k8s.io/v1" }

const ofKind = (kind: string, object: object) => ({ ...group, kind, ...object })

describe.skipIf(missing !== undefined)("kubectl, with admission policies", () => {
  it.live(
    "applies a policy and its binding, prints them, and sees the refusal, the warning and the type check",
    () =>
      Effect.gen(function* () {
        const { done, kubectl } = yield* cluster()
        const spec = policySpec("", {
          validations: [{ expression: "object.metadata.name.startsWith('app-')", message: "names start with app-" }]
        })
        const definition = ofKind("ValidatingAdmissionPolicy", policy("names", spec))
        const name = "validatingadmissionpolicy.admissionregistration.k8s.io/names"
        assert.strictEqual(yield* done("apply -f -", definition), `${name} created\n`)
        // kubectl sends a list that the server has completed again; it changes nothing.
        assert.strictEqual(yield* done("apply -f -", definition), `${name} configured\n`)
        assert.strictEqual(yield* done(`get ${name} -o jsonpath={.metadata.generation}`), "1")
        const bound = (more: object = {}) => ofKind("ValidatingAdmissionPolicyBinding", binding("names", "names", more))
        yield* done("apply -f -", bound())
        assert.match(
          yield* done("get validatingadmissionpolicies"),
          /^NAME +VALIDATIONS +PARAMKIND +AGE\nnames +1 +<unset> +\d+s\n$/
        )
        assert.match(
          yield* done("get validatingadmissionpolicybindings"),
          /^NAME +POLICYNAME +PARAMREF +AGE\nnames +names +<unset> +\d+s\n$/
        )
        const refused = yield* kubectl("create -f -", { ...configMap("x"), apiVersion: "v1", kind: "ConfigMap" })
        assert.strictEqual(refused.code, 1)
        assert.strictEqual(
          refused.stderr,
          `The configmaps "x" is invalid: : ValidatingAdmissionPolicy 'names' with binding 'names' denied request: names start with app-\n`
        )
        assert.strictEqual(yield* done("create configmap app-x"), "configmap/app-x created\n")
        yield* done("apply -f -", bound({ validationActions: ["Warn"] }))
        const warned = yield* kubectl("create configmap y")
        assert.deepStrictEqual(
          [warned.stdout, warned.stderr],
          [
            "configmap/y created\n",
            "Warning: Validation failed for ValidatingAdmissionPolicy 'names' with binding 'names': names start with app-\n"
          ]
        )
        const typo = policySpec("object.dta == 1")
        yield* done("apply -f -", ofKind("ValidatingAdmissionPolicy", policy("typo", typo)))
        assert.include(yield* done("describe validatingadmissionpolicy typo"), "undefined field 'dta'")
        const wrong = yield* kubectl(
          "apply -f -",
          ofKind("ValidatingAdmissionPolicy", policy("wrong", policySpec("1 +")))
        )
        assert.include(wrong.stderr, "spec.validations[0].expression: Invalid value")
        assert.match(yield* done("explain validatingadmissionpolicy.spec.validations"), /messageExpression\t<string>/)
      }),
    60_000
  )
})
