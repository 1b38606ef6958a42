/** Webhooks that cannot be served together are an error when the server is created. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Resource from "../../../src/kube/Resource.ts"
import { ConfigMap, Pod } from "../../../src/kube/resources.ts"
import { check } from "../../../src/manager/webhooks/check.ts"
import { configurations } from "../../../src/manager/webhooks/configurations.ts"
import * as Webhook from "../../../src/layers/Webhook.ts"
import { colouring, conversion, Gadget, GadgetV1, sizes } from "../../layers/webhook/gadget.ts"

const judging = (options: Webhook.Options) => Webhook.validating(ConfigMap, undefined, options)

const same = <A>(object: A) => Effect.succeed(object as never)

const other = Resource.make({
  group: "demo.example.com",
  version: "v3",
  kind: "Gizmo",
  plural: "gizmos",
  spec: Schema.Struct({ size: Schema.Int })
})

const v9 = Resource.make({ ...GadgetV1.declaration, version: "v9" })

const spoke = (resource: Resource.AnyCustom) => Webhook.spoke(resource, { of: Gadget, toHub: same, fromHub: same })

const path = 'a path is made of parts like "/validate-me", of letters, digits, "-" and "_"'

const refused: ReadonlyArray<readonly [string, ReadonlyArray<Webhook.Any>]> = [
  ...["validate", "/a//b", "/a/", "/a b", "", "/ä"].map((bad): readonly [string, ReadonlyArray<Webhook.Any>] => [
    `the webhook "validate.configmaps.core" cannot be served at ${JSON.stringify(bad)}: ${path}`,
    [judging({ path: bad })]
  ]),
  [
    'the webhook "validate.configmaps.core" and the webhook "b.b.b" are both to be served at /validate--v1-configmap; give one another path, or put them in order with Webhook.inOrder',
    [judging({}), judging({ name: "b.b.b" })]
  ],
  [
    'the webhook "validate.configmaps.core" and the conversion of gadgets.demo.example.com are both to be served at /convert; give one another path, or put them in order with Webhook.inOrder',
    [judging({ path: "/convert" }), conversion]
  ],
  ['two webhooks are named "validate.configmaps.core"', [judging({}), judging({ path: "/b" })]],
  ...["two.parts", "Three.capital.parts", "a..b.c", "a.b.-c"].map(
    (name): readonly [string, ReadonlyArray<Webhook.Any>] => [
      `the webhook "${name}" needs a DNS name of three parts at least, such as "validate.memcacheds.example.com"`,
      [judging({ name })]
    ]
  ),
  ...[0, 31, 1.5].map((timeoutSeconds): readonly [string, ReadonlyArray<Webhook.Any>] => [
    `the webhook "validate.configmaps.core" has a timeout of ${timeoutSeconds} seconds; it must be a whole number from 1 to 30`,
    [judging({ timeoutSeconds })]
  ]),
  [
    'the webhook "validate.configmaps.core" has no operations, so it would never be asked',
    [judging({ operations: [] })]
  ],
  [
    'the webhook "validate.configmaps.core" has the match condition "a": must evaluate to bool but got int',
    [judging({ matchConditions: [{ name: "a", expression: " 1 + 1 " }] })]
  ],
  [
    `the webhook "validate.configmaps.core" has the match condition "a": compilation failed: ERROR: <input>:1:1: undeclared reference to 'spec' (in container '')\n | spec.x\n | ^`,
    [judging({ matchConditions: [{ name: "a", expression: "spec.x" }] })]
  ],
  [
    'the webhook "validate.configmaps.core" has a match condition named "a b"; a name is made of letters, digits, "-", "_" and "."',
    [judging({ matchConditions: [{ name: "a b", expression: "true" }] })]
  ],
  [
    'the webhook "validate.configmaps.core" has two match conditions named "a"',
    [judging({ matchConditions: ["a", "a"].map((name) => ({ name, expression: "true" })) })]
  ],
  [
    'the webhook "validate.configmaps.core" has 65 match conditions; the API server takes 64 at most',
    [judging({ matchConditions: Array.from({ length: 65 }, (_, at) => ({ name: `a${at}`, expression: "true" })) })]
  ],
  ["two webhooks convert gadgets.demo.example.com", [conversion, { ...conversion, path: "/b" }]],
  [
    "the conversion of gadgets.demo.example.com has no spoke for v1, which the resource declares",
    [Webhook.converting(Gadget, [])]
  ],
  [
    'the conversion of gadgets.demo.example.com has a spoke for v9, which the resource does not declare in "versions"',
    [Webhook.converting(Gadget, [spoke(GadgetV1), spoke(v9)])]
  ],
  [
    "the conversion of gadgets.demo.example.com has two spokes, or hub and spoke, for v1",
    [Webhook.converting(Gadget, [spoke(GadgetV1), spoke(GadgetV1)])]
  ],
  [
    "the conversion of gadgets.demo.example.com has a spoke of another kind, Gizmo of demo.example.com",
    [Webhook.converting(Gadget, [spoke(other)])]
  ]
]

describe("webhooks that cannot be served", () => {
  for (const [message, webhooks] of refused) {
    it(`because ${message}`, () => assert.strictEqual(Result.getOrThrow(Result.flip(check(webhooks))).message, message))
  }

  it("do not include different paths, the root, and conversions with one path", () => {
    const gizmos = Webhook.converting(other, [])
    const all = [
      colouring,
      sizes,
      conversion,
      gizmos,
      judging({ path: "/" }),
      judging({ path: "/a_b/C-1", name: "a.b.c" })
    ]
    assert.isTrue(Result.isSuccess(check(all)))
  })
})

describe("configurations", () => {
  const service = { namespace: "system", name: "hooks" }

  it("contain all defaults, so that the stored object equals the printed one", () => {
    const { mutating } = configurations([colouring], { name: "gadgets", at: service, ca: "PEM" })
    assert.deepStrictEqual(mutating, {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: "gadgets" },
      webhooks: [
        {
          name: "default.gadgets.demo.example.com",
          admissionReviewVersions: ["v1", "v1beta1"],
          clientConfig: {
            service: { ...service, path: "/mutate-demo-example-com-v2-gadget", port: 443 },
            caBundle: "UEVN"
          },
          rules: [
            {
              operations: ["CREATE", "UPDATE"],
              apiGroups: ["demo.example.com"],
              apiVersions: ["v2"],
              resources: ["gadgets"],
              scope: "Namespaced"
            }
          ],
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          sideEffects: "None",
          timeoutSeconds: 10,
          namespaceSelector: {},
          objectSelector: {},
          reinvocationPolicy: "Never"
        }
      ]
    } as never)
  })

  it("exist only if there are webhooks for them", () => {
    const url = "https://127.0.0.1:9443"
    const pods = Webhook.validating(Pod, undefined, { operations: ["DELETE"], subresources: ["status"] })
    const { conversions, mutating, validating } = configurations([pods, conversion], { name: "all", at: { url } })
    assert.isUndefined(mutating)
    const [only] = validating?.webhooks ?? []
    assert.deepInclude(only, { clientConfig: { url: `${url}/validate--v1-pod` } })
    assert.deepInclude(only, {
      rules: [
        {
          operations: ["DELETE"],
          apiGroups: [""],
          apiVersions: ["v1"],
          resources: ["pods", "pods/status"],
          scope: "Namespaced"
        }
      ]
    } as never)
    assert.deepStrictEqual(conversions, [
      {
        definition: "gadgets.demo.example.com",
        conversion: {
          strategy: "Webhook",
          webhook: { clientConfig: { url: `${url}/convert` }, conversionReviewVersions: ["v1", "v1beta1"] }
        }
      }
    ])
  })
})
