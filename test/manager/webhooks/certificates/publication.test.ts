import { assert, describe, it } from "@effect/vitest"
import * as Base64 from "effect/encoding/Base64"
import * as Effect from "effect/Effect"
import { ClusterTest } from "../../../../src/testing/ClusterTest.ts"
import { KubeClient } from "../../../../src/layers/KubeClient.ts"
import { CustomResourceDefinition } from "../../../../src/manager/crds/Definitions.ts"
import * as Publication from "../../../../src/manager/webhooks/certificates/publication.ts"
import type { ConversionOf } from "../../../../src/manager/webhooks/configurations.ts"

const definition = "widgets.example.com"

const conversion: ConversionOf["conversion"] = {
  strategy: "Webhook",
  webhook: { clientConfig: { url: "https://127.0.0.1:9/convert" }, conversionReviewVersions: ["v1"] }
}

const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
})

const widgets = (more: object) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: definition },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget" },
    versions: [version("v1", true), version("v2", false)],
    ...more
  }
})

const targetOf = (installs: boolean) => {
  const all = { mutating: undefined, validating: undefined, conversions: [{ definition, conversion }] }
  return Publication.targets(all, installs)[0] ?? assert.fail()
}

const told = Effect.gen(function* () {
  const client = yield* KubeClient
  const { spec } = yield* client.get(CustomResourceDefinition, { name: definition })
  return (spec as { readonly conversion?: unknown }).conversion
})

/** Patches until there is nothing to patch; returns the number of patches. */
const publish = (installs: boolean, caBundle: string) =>
  Effect.gen(function* () {
    const client = yield* KubeClient
    for (let times = 0; times < 5; times++) {
      const live = yield* client.get(CustomResourceDefinition, { name: definition })
      const patch = Publication.patchOf(targetOf(installs), live, caBundle)
      if (patch === undefined) return times
      yield* client.patch(CustomResourceDefinition, { name: definition }, patch)
    }
    return assert.fail("it never ends")
  })

// Servers check no more of an authority than this form.
const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${Base64.encode(text)}\n-----END CERTIFICATE-----\n`

describe("the authorities of a conversion", () => {
  it.effect("are added to the conversion once, and replaced by others", () =>
    Effect.gen(function* () {
      for (const caBundle of [pem("first"), pem("second")]) {
        assert.strictEqual(yield* publish(false, caBundle), 1)
        const clientConfig = { ...conversion.webhook.clientConfig, caBundle: Base64.encode(caBundle) }
        assert.deepStrictEqual(yield* told, { ...conversion, webhook: { ...conversion.webhook, clientConfig } })
      }
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [widgets({ conversion })] })))
  )

  it.effect("are not added to a definition without a conversion, unless the manager installs it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* publish(false, pem("first")), 0)
      assert.strictEqual(yield* publish(true, pem("first")), 1)
      const clientConfig = { ...conversion.webhook.clientConfig, caBundle: Base64.encode(pem("first")) }
      assert.deepStrictEqual(yield* told, { ...conversion, webhook: { ...conversion.webhook, clientConfig } })
    }).pipe(Effect.provide(ClusterTest.layer({ crds: [widgets({})] })))
  )
})
